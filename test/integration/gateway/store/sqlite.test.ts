/** SQLite writes are durable before anybody sees them: gateway/store/driver/sqlite.ts. */

import assert from 'node:assert/strict'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { mock, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inTransaction } from '../../../../gateway/store/database.ts'
import { openSqlite, SqliteDatabase } from '../../../../gateway/store/driver/sqlite.ts'
import { renewStatistics } from '../../../../gateway/store/driver/statistics.ts'
import { isOfFullDisk, probeWrite } from '../../../../gateway/store/driver/write-probe.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { assertError } from '../../../support/gateway/assert-shape.ts'
import { put, stored } from '../../../support/database/rows.ts'
import { createFileBody, startGateway } from '../../../support/gateway/start-gateway.ts'

type FlushCallback = (error: Error | null) => void

/** Opens an empty database on a disk whose flushes `end` settles from now on. */
async function openOnDisk(t: TestContext, end: (done: FlushCallback) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-'))
  const path = join(folder, 'winnow.db')
  const store = await openSqlite(path, { migrates: true })
  const file = await open(path)
  const flushed = mock.method(
    Object.getPrototypeOf(file),
    'datasync',
    () =>
      new Promise<void>((resolve, reject) => end((error) => (error ? reject(error) : resolve()))),
  )
  await file.close()
  t.after(async () => {
    flushed.mock.restore()
    await store.destroy()
    await rm(folder, { recursive: true })
  })
  return { store, path, flushes: () => flushed.mock.callCount() }
}

const fails = (code: string) => (done: FlushCallback) =>
  done(Object.assign(new Error(code), { code }))

test('a write is reported, and visible to others, only once it is flushed', async (t) => {
  const waiting: FlushCallback[] = []
  const { store } = await openOnDisk(t, (done) => waiting.push(done))
  const order: string[] = []
  const writing = inTransaction(store, (store) => put(store, 'a')).then(() => order.push('written'))
  while (waiting.length === 0) await sleep(1)
  const read = stored(store).then((ids) => order.push(`read ${ids.join()}`))
  await sleep(20)
  order.push('flushed')
  waiting.pop()!(null)
  await Promise.all([writing, read])
  assert.equal(order[0], 'flushed')
  assert.deepEqual(order.slice(1).sort(), ['read a', 'written'])
})

test('a write without a transaction is flushed, a read is not', async (t) => {
  const { store, flushes } = await openOnDisk(t, (done) => done(null))
  await put(store, 'a')
  assert.equal(flushes(), 1)
  assert.deepEqual(await stored(store), ['a'])
  await store.updateTable('outbox').set({ tries: 1 }).returning('message_id').execute()
  assert.equal(flushes(), 2)
})

test('transactions that are ready at once are flushed together', async (t) => {
  const { store, flushes } = await openOnDisk(t, (done) => setImmediate(done, null))
  const ids = Array.from({ length: 40 }, (_, i) => String(i).padStart(2, '0'))
  await Promise.all(ids.map((id) => inTransaction(store, (store) => put(store, id))))
  assert.deepEqual(await stored(store), ids)
  assert.equal(flushes(), 1)
})

test('a write whose flush fails is refused; the next one empties the log', async (t) => {
  let end: (done: FlushCallback) => void = fails('EIO')
  const { store, flushes } = await openOnDisk(t, (done) => end(done))
  await assert.rejects(put(store, 'a'), { code: 'SERVICE_UNAVAILABLE' })
  end = (done) => done(null) // a later flush does not report what the first one lost
  await put(store, 'b')
  assert.equal(flushes(), 1, 'the log was emptied instead')
  await put(store, 'c')
  assert.equal(flushes(), 2)
})

test('after a failed flush writes are refused while a reader keeps the log from being emptied', async (t) => {
  let end: (done: FlushCallback) => void = (done) => done(null)
  const { store, path, flushes } = await openOnDisk(t, (done) => end(done))
  await put(store, 'a')
  const reader = new SqliteDatabase(path)
  reader.exec('begin')
  reader.prepare('select * from outbox').all()
  end = fails('EIO')
  await assert.rejects(put(store, 'b'), { code: 'SERVICE_UNAVAILABLE' })
  end = (done) => done(null)
  await assert.rejects(put(store, 'c'), { code: 'SERVICE_UNAVAILABLE' })
  reader.close()
  await put(store, 'd')
  assert.equal(flushes(), 2)
  assert.deepEqual(await stored(store), ['a', 'b', 'c', 'd'])
})

test('a flush that fails for lack of space counts as a full disk', async (t) => {
  const { store } = await openOnDisk(t, fails('ENOSPC'))
  const error = await probeWrite(store, '2026-01-02T03:04:05.678Z').catch((error: unknown) => error)
  assert.ok(isOfFullDisk(error))
})

/** Holds the write lock, as a command of another process does; returns its release. */
function holdLock(path: string): () => void {
  const database = new SqliteDatabase(path)
  database.exec('begin immediate')
  return () => database.close()
}

test("another process's lock stops neither /healthz nor reads, and writes wait for its end", async (t) => {
  const gateway = await startGateway(t, { database: 'sqlite' })
  const releaseLock = holdLock(join(gateway.folder, 'winnow.db'))
  let isOver = false
  const writing = gateway
    .call('POST', '/v1/files', { body: createFileBody() })
    .finally(() => (isOver = true))
  await sleep(50) // enough to run into the lock
  assert.equal((await gateway.call('GET', '/healthz')).statusCode, 200)
  assert.equal((await gateway.call('GET', '/v1/files')).statusCode, 200)
  assert.ok(!isOver, 'the write waits')
  releaseLock()
  assert.equal((await writing).statusCode, 201)
})

test('writes are refused by name while another process holds its lock for seconds', async (t) => {
  const gateway = await startGateway(t, { database: 'sqlite' })
  const releaseLock = holdLock(join(gateway.folder, 'winnow.db'))
  const create = () => gateway.call('POST', '/v1/files', { body: createFileBody() })
  const first = create()
  await sleep(50)
  for (const refused of await Promise.all([first, ...Array.from({ length: 99 }, create)])) {
    assertError(refused, 'SERVICE_UNAVAILABLE')
    assert.match(
      refused.json().error.message,
      /Another process has locked the database for over 5 s/,
    )
    assert.equal(refused.headers['retry-after'], '5')
  }
  releaseLock()
  assert.equal((await create()).statusCode, 201)
})

test('a new database waits for another process that is making it', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'winnow.db')
  const other = new SqliteDatabase(path)
  other.exec('begin immediate; create table other (id text)')
  const opening = openSqlite(path, { migrates: true })
  await sleep(50) // enough to run into the lock
  other.exec('rollback')
  other.close()
  await (await opening).destroy()
})

test('statistics are renewed at the start, after sweeps and at the end', async (t) => {
  const path = join(temporaryFolder(t), 'winnow.db')
  const rowsCounted = () => {
    const database = new SqliteDatabase(path)
    try {
      const row = database.prepare(
        "select max(stat) as stat from sqlite_stat1 where tbl = 'outbox'",
      )
      return Number.parseInt((row.get() as { stat: string | null }).stat ?? '0', 10)
    } finally {
      database.close()
    }
  }
  const tool = await openSqlite(path)
  for (let i = 0; i < 100; i++) await put(tool, `a${i}`)
  await tool.destroy()
  const store = await openSqlite(path, { migrates: true })
  assert.equal(rowsCounted(), 100)
  const ids = Array.from({ length: 2_000 }, (_, i) => `b${i}`)
  await Promise.all(ids.map((id) => inTransaction(store, (store) => put(store, id))))
  await renewStatistics(store)
  assert.equal(rowsCounted(), 2_100)
  await store.deleteFrom('outbox').where('message_id', 'like', 'b%').execute()
  await store.destroy()
  assert.equal(rowsCounted(), 100)
})
