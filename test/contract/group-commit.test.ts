/** Pieces of work that share a transaction: gateway/store/driver/group-commit.ts. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { inTransaction, type Store } from '../../gateway/store/database.ts'
import { put, stored } from '../support/database/rows.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'

test('of several works in one transaction, one that throws is rolled back and the others are stored', async (t) => {
  const { store } = await startGateway(t, { database: 'sqlite' })
  const settled = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((id) =>
      inTransaction(store, async (store) => {
        await put(store, id)
        if (id === 'b') throw new Error('not b')
        if (id === 'c') await put(store, 'a') // violates the primary key
        return id
      }),
    ),
  )
  assert.deepEqual(
    settled.map((one) => one.status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await stored(store), ['a', 'd'])
})

test("no work is reported as stored if the transaction can't be committed", async (t) => {
  const { store } = await startGateway(t, { database: 'sqlite' })
  await store.schema
    .createTable('child')
    .addColumn('id', 'text')
    .addForeignKeyConstraint('parent', ['id'], 'accounts', ['account_id'], (constraint) =>
      constraint.deferrable().initiallyDeferred(),
    )
    .execute()
  const breaking = (store: Store) =>
    (store as unknown as { insertInto: any }).insertInto('child').values({ id: 'nobody' }).execute()
  const settled = await Promise.allSettled([
    inTransaction(store, (store) => put(store, 'a')),
    inTransaction(store, breaking), // only noticed at the end
  ])
  assert.deepEqual(
    settled.map((one) => one.status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(await stored(store), [])
  await inTransaction(store, (store) => put(store, 'b')) // later work is unaffected
  assert.deepEqual(await stored(store), ['b'])
})

test('many pieces of work, concurrent with other transactions, are all stored', async (t) => {
  const { store } = await startGateway(t, { database: 'sqlite' })
  const ids = Array.from({ length: 300 }, (_, i) => String(i).padStart(3, '0'))
  await Promise.all(
    ids.map((id, i) =>
      i % 7 === 0
        ? store.transaction().execute((store) => put(store, id))
        : inTransaction(store, (store) => put(store, id)),
    ),
  )
  assert.deepEqual(await stored(store), ids)
})
