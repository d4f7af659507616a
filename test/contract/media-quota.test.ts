/** How much media an account holds: docs/decisions/accounts.md. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { Kysely, Migrator, SqliteDialect } from 'kysely'
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts'
import { predictOutputBytes } from '../../engine/job/outputs/output-bytes.ts'
import { defaultMediaBytesMax } from '../../gateway/accounts/media-quota.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import type { MediaStore } from '../../gateway/media-store/media-store.ts'
import { migrations } from '../../gateway/store/schema/migrations.ts'
import { openSqlite, SqliteDatabase } from '../../gateway/store/driver/sqlite.ts'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { assertMediaSums } from '../support/gateway/media-sums.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { fc } from '../support/basics/property.ts'
import {
  API,
  byAnother,
  FILE_BYTES,
  type Gateway,
  outputsOf,
  startGateway,
} from '../support/gateway/start-gateway.ts'

const MB = 1e6
const URL_INPUT = { audio_url: 'https://a.example/x.flac' }

const mediaOf = async ({ call }: Pick<Gateway, 'call'>) => {
  const account = (await call('GET', '/v1/account')).json()
  return [account.media_bytes, account.media_reserved_bytes, account.media_bytes_max]
}

/** Outputs of so many bytes together. */
const outputsOfBytes = (gateway: Gateway, requestId: string, bytes: number) => {
  const { target, residual } = outputsOf(gateway.broker.jobOf(requestId))
  return { target: { ...target, bytes }, residual: { ...residual, bytes: 0 } }
}

test('extension: 5 s of eight channels for eight prompts fail by name before any work', async (t) => {
  const gateway = await startGateway(t, { config: { mediaBytesMaxPerAccount: 20 * MB } })
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const { own, balance } = await meteredAccount(gateway, 100)
  const prompts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const requestId = await own.submitted({ prompts })
  await gateway.event('started', requestId)
  const output_bytes = predictOutputBytes({
    count: prompts.length + 1,
    seconds: 5,
    format: 'wav',
    sampleRate: 48_000,
    channels: 8,
    videoBytes: 0,
    coverBytes: 0,
    hasPreview: false,
  })
  assert.ok(output_bytes > 51.8 * MB && output_bytes < 54 * MB, `${output_bytes}`)
  await gateway.event('measured', requestId, { duration: 5, output_bytes })
  const { status, error } = await own.statusOf(requestId)
  assert.equal(status, 'FAILED')
  assert.equal(error.code, 'MEDIA_QUOTA_EXCEEDED')
  assert.match(error.message, /would take 53\.\d MB, but the account holds 8 bytes of the 20\.0 MB/)
  assert.match(error.message, /Delete files or requests/)
  assert.deepEqual(gateway.canceled, [requestId], 'its engine stops')
  assert.deepEqual(await balance(), [100, 0])
  assert.deepEqual(await mediaOf(own), [FILE_BYTES.length, 0, 20 * MB])
  await assertMediaSums(gateway.store)
})

test('extension: outputs are set aside once they are measured, and counted as they are', async (t) => {
  const gateway = await startGateway(t, { config: { mediaBytesMaxPerAccount: 1_000 } })
  const started = async () => {
    const requestId = await gateway.submitted(URL_INPUT)
    await gateway.event('started', requestId)
    return requestId
  }
  const [first, second, third] = [await started(), await started(), await started()]
  await gateway.event('measured', first, { output_bytes: 600 })
  assert.deepEqual(await mediaOf(gateway), [0, 600, 1_000])
  await gateway.event('measured', first, { output_bytes: 600, attempt_id: 'another' })
  assert.deepEqual(await mediaOf(gateway), [0, 600, 1_000])
  await gateway.event('measured', second, { output_bytes: 500 })
  const { error } = await gateway.statusOf(second)
  assert.equal(error.code, 'MEDIA_QUOTA_EXCEEDED')
  assert.match(error.message, /600 bytes are set aside for other requests/)
  await gateway.event('completed', first, { outputs: outputsOfBytes(gateway, first, 400) })
  assert.deepEqual(await mediaOf(gateway), [400, 0, 1_000])
  await gateway.event('measured', third, { output_bytes: 600 })
  assert.deepEqual(await mediaOf(gateway), [400, 600, 1_000])
  assertError(await gateway.submit(URL_INPUT), 'MEDIA_QUOTA_EXCEEDED')
  assert.equal((await (await byAnother(gateway)).submit(URL_INPUT)).statusCode, 202)
  await gateway.call('DELETE', `${API}/requests/${third}`)
  assert.deepEqual(await mediaOf(gateway), [400, 0, 1_000])
  await assertMediaSums(gateway.store)
})

test('extension: outputs whose size nobody foresaw are refused at the end, and cost nothing', async (t) => {
  const gateway = await startGateway(t, { config: { mediaBytesMaxPerAccount: 1_000 } })
  const { own, balance } = await meteredAccount(gateway, 100)
  const requestId = await own.submitted(URL_INPUT)
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId, {
    outputs: outputsOfBytes(gateway, requestId, 1_001),
  })
  assert.equal((await own.statusOf(requestId)).error.code, 'MEDIA_QUOTA_EXCEEDED')
  assert.deepEqual(await balance(), [100, 0])
  assert.deepEqual(await mediaOf(own), [0, 0, 1_000])
})

test('extension: outputs beyond the limit stay where an operator has lowered it', async (t) => {
  const gateway = await startGateway(t, { config: { mediaBytesMaxPerAccount: 1_000 } })
  const requestId = await gateway.submitted(URL_INPUT)
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { output_bytes: 900 })
  gateway.deps.config.mediaBytesMaxPerAccount = 100
  await gateway.event('completed', requestId, { outputs: outputsOfBytes(gateway, requestId, 800) })
  assert.equal((await gateway.statusOf(requestId)).status, 'COMPLETED')
  assert.deepEqual(await mediaOf(gateway), [800, 0, 100])
})

test('extension: of outputs measured at the same moment as many are set aside as fit', async (t) => {
  const gateway = await startGateway(t, { config: { mediaBytesMaxPerAccount: 1_000 } })
  const other = await startGateway(t, {
    ...(gateway.database.url !== undefined && { beside: gateway }),
    config: { mediaBytesMaxPerAccount: 1_000 },
  })
  const both = gateway.database.url === undefined ? [gateway] : [gateway, other]
  const ids: string[] = []
  for (let i = 0; i < 6; i++) {
    ids.push(await gateway.submitted(URL_INPUT))
    await gateway.event('started', ids[i]!)
  }
  await Promise.all(
    ids.map((id, i) => both[i % both.length]!.event('measured', id, { output_bytes: 300 })),
  )
  const open = (await Promise.all(ids.map((id) => gateway.statusOf(id)))).filter(
    ({ status }) => status === 'IN_PROGRESS',
  )
  assert.equal(open.length, 3)
  assert.deepEqual(await mediaOf(gateway), [0, 900, 1_000])
})

test('extension: files and outputs share one limit, and retention frees both', async (t) => {
  const gateway = await startGateway(t, { config: { mediaBytesMaxPerAccount: 24 } })
  await gateway.completed() // a file of 8 bytes, 13 bytes of outputs
  assert.deepEqual(await mediaOf(gateway), [21, 0, 24])
  const create = () => gateway.createFile()
  const refused = await create()
  assertError(refused, 'MEDIA_QUOTA_EXCEEDED')
  assert.match(refused.json().error.message, /would take 8 bytes, but the account holds 21 bytes/)
  assert.equal(refused.headers['retry-after'], '86400')
  gateway.clock.advance(25 * HOUR_MS)
  await sweep(gateway.deps)
  assert.deepEqual(await mediaOf(gateway), [13, 0, 24])
  assert.equal((await create()).statusCode, 201)
  gateway.clock.advance(7 * DAY_MS)
  await sweep(gateway.deps)
  assert.deepEqual(await mediaOf(gateway), [0, 0, 24])
  await assertMediaSums(gateway.store)
})

test('extension: whatever happens to files and requests, the sums are those of their rows', async (t) => {
  const gateway = await startGateway(t)
  const bytes = fc.nat({ max: 1_000 })
  const step = fc.tuple(
    fc.constantFrom(
      'file',
      'upload',
      'delete file',
      'submit',
      'measured',
      'completed',
      'failed',
      'delete',
      'day',
      'release',
    ),
    fc.nat({ max: 3 }),
    bytes,
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const ids: string[] = []
      const fileIds: string[] = []
      for (const [does, at, size] of steps) {
        const id = ids[at % Math.max(1, ids.length)] ?? ''
        if (does === 'file') {
          await gateway.createFile({ file_size: size + 1 })
        } else if (does === 'upload') {
          fileIds.push(await gateway.uploadFile())
        } else if (does === 'delete file') {
          await gateway.call('DELETE', `/v1/files/${fileIds[at % Math.max(1, fileIds.length)]}`)
        } else if (does === 'submit') {
          ids.push(await gateway.submitted(URL_INPUT))
          await gateway.event('started', ids.at(-1)!)
        } else if (does === 'delete') await gateway.call('DELETE', `${API}/requests/${id}`)
        else if (does === 'day') {
          gateway.clock.advance(4 * DAY_MS)
          await sweep(gateway.deps)
        } else if (id === '') continue
        else if (does === 'measured') await gateway.event('measured', id, { output_bytes: size })
        else if (does === 'failed') await gateway.event('failed', id)
        else if (does === 'release') await gateway.event('released', id)
        else {
          const outputs = { target: OUTPUT(size), residual: OUTPUT(1) }
          await gateway.event('completed', id, { outputs })
        }
        await assertMediaSums(gateway.store)
      }
    }),
    { numRuns: 15 },
  )
})

const OUTPUT = (bytes: number) => ({ content_type: 'audio/wav', extension: 'wav', bytes })

test('extension: by default an account may hold half of what the disk has for media', async (t) => {
  const gateway = await startGateway(t)
  await gateway.createFile({ file_size: 1_000 })
  gateway.free.bytes = 9_001
  assert.equal(await defaultMediaBytesMax(gateway.store, gateway.disk), 5_000)
  const bucket = { kind: 's3' } as unknown as MediaStore
  assert.equal(await defaultMediaBytesMax(gateway.store, bucket), 100e9)
})

test('a database from before counts what is there, whatever changes its rows', async (t) => {
  const path = join(temporaryFolder(t), 'winnow.db')
  const old = new Kysely<any>({
    dialect: new SqliteDialect({ database: new SqliteDatabase(path) }),
  })
  const before = Object.fromEntries(
    Object.entries(migrations).filter(([name]) => name < '019-media-ledger'),
  )
  const provider = { getMigrations: async () => before }
  assert.equal((await new Migrator({ db: old, provider }).migrateToLatest()).error, undefined)
  const created_at = '2026-01-01T00:00:00.000Z'
  await old.insertInto('accounts').values({ account_id: 'a', name: 'Old', created_at }).execute()
  const file = {
    account_id: 'a',
    file_name: 'x',
    content_type: 'audio/wav',
    purpose: 'p',
    created_at,
    expires_at: created_at,
  }
  await old
    .insertInto('files')
    .values({ ...file, file_id: 'f1', file_size: 100 })
    .execute()
  const request = {
    account_id: 'a',
    prompt: 'x',
    options: '{}',
    file_name: 'x',
    created_at,
    updated_at: created_at,
  }
  const outputs = {
    target: { ...OUTPUT(10), video: OUTPUT(20) },
    residual: OUTPUT(30),
    peaks: OUTPUT(1),
    gain_db: 0,
  }
  const completed = { ...request, status: 'COMPLETED', outputs: JSON.stringify(outputs) }
  await old
    .insertInto('requests')
    .values([
      { ...completed, request_id: 'r1', media_removed_at: null },
      { ...completed, request_id: 'r2', media_removed_at: created_at },
      { ...request, request_id: 'r3', status: 'IN_QUEUE' },
    ])
    .execute()
  await old.destroy()
  const store = await openSqlite(path, { migrates: true })
  const held = async () => {
    await assertMediaSums(store)
    const [account] = await store.selectFrom('accounts').selectAll().execute()
    return account?.media_held_bytes
  }
  assert.equal(await held(), 161)
  const removed = { media_removed_at: created_at }
  await store.updateTable('files').set(removed).execute()
  assert.equal(await held(), 61)
  await store.updateTable('requests').set(removed).execute()
  assert.equal(await held(), 0)
  await store.destroy()
})
