/** Media is removed when its time is over, including the bytes: docs/reference/settings.md. */

import assert from 'node:assert/strict'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { isoTime } from '../../shared/clock.ts'
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts'
import { PendingUploads } from '../../gateway/files/pending-uploads.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import type { Bucket } from '../../gateway/media-store/media-store.ts'
import { submit as submitDirectly } from '../../gateway/requests/submit/submit.ts'
import { instead } from '../support/basics/instead.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { beforeTransactions } from '../support/database/before-transactions.ts'
import {
  API,
  ATTEMPT_ID,
  FILE_BYTES,
  type Gateway,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { leftRows, onDisk } from '../support/gateway/stored.ts'

const fileStatus = async (gateway: Gateway, fileId: string): Promise<string> =>
  (await gateway.call('GET', `/v1/files/${fileId}`)).json().status

const outputsOf = (requestId: string) =>
  ['peaks', 'residual', 'residual_video', 'target', 'target_video'].map(
    (part) => `outputs/${requestId}/${ATTEMPT_ID}/${part}`,
  )

const outputsOnDisk = async (gateway: Gateway) =>
  (await onDisk(gateway)).filter((path) => path.startsWith('outputs'))

const removals = async ({ rows }: Gateway) => (await rows('media_removals')).length

test('3 an uploaded file loses its bytes when its time is over, and becomes expired', async (t) => {
  const gateway = await startGateway(t)
  const fileId = await gateway.uploadFile()
  gateway.clock.advance(DAY_MS - 1)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [`inputs/${fileId}`])
  assert.equal(await fileStatus(gateway, fileId), 'uploaded')
  gateway.clock.advance(1)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [])
  assert.equal(await fileStatus(gateway, fileId), 'expired')
  assertError(await gateway.submit({ file_id: fileId }), 'FILE_EXPIRED', 'input.file_id')
})

test('3 a file stays while an unfinished request needs it, and is removed with the last one', async (t) => {
  const gateway = await startGateway(t)
  const fileId = await gateway.uploadFile()
  const [first, second] = [
    await gateway.submitted({ file_id: fileId }),
    await gateway.submitted({ file_id: fileId }),
  ]
  const { source } = gateway.broker.jobOf(second)
  gateway.clock.advance(2 * DAY_MS)
  await gateway.event('started', first)
  await gateway.event('failed', first)
  await gateway.event('started', second)
  await sweep(gateway.deps)
  assert.equal(await fileStatus(gateway, fileId), 'expired')
  assert.deepEqual(await onDisk(gateway), [`inputs/${fileId}`])
  assert.equal((await gateway.call('GET', source.url)).body, FILE_BYTES.toString())
  await gateway.event('completed', second)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [])
  assertError(await gateway.call('GET', source.url), 'NOT_FOUND')
})

test('3 a file removed between the check of a submit and its storing is refused', async (t) => {
  const gateway = await startGateway(t)
  const fileId = await gateway.uploadFile()
  const caller = { account_id: gateway.accountId, own_priority: null }
  const body = { input: { prompt: 'a bell', file_id: fileId } }
  const slowClock = { elapsed: () => 0, now: () => gateway.clock.now() - DAY_MS } // the file exists by it
  gateway.clock.advance(DAY_MS)
  const store = beforeTransactions(gateway.store, () => sweep(gateway.deps))
  const deps = { ...gateway.deps, store, clock: slowClock }
  await assert.rejects(submitDirectly(deps, caller, { body }), { code: 'FILE_EXPIRED' })
  assert.equal((await gateway.rows('requests')).length, 0)
  assert.deepEqual(await onDisk(gateway), [])
})

test('3 a file that was never uploaded expires, and a late upload leaves nothing behind', async (t) => {
  const gateway = await startGateway(t)
  const created = (await gateway.createFile()).json()
  const stage = gateway.disk.stage.bind(gateway.disk)
  gateway.disk.stage = async (...args) => {
    const staged = await stage(...args)
    gateway.clock.advance(HOUR_MS) // while the bytes are in transit
    return staged
  }
  const late = await gateway.call('PUT', created.upload_url, { body: FILE_BYTES })
  assertError(late, 'FILE_EXPIRED')
  assert.deepEqual(await onDisk(gateway), [])
  assert.equal(await fileStatus(gateway, created.file_id), 'expired')
  await sweep(gateway.deps)
  assert.equal(await fileStatus(gateway, created.file_id), 'expired')
})

test('3 a stalled upload is cut off when its address expires', async (t) => {
  const gateway = await startGateway(t)
  const address = await gateway.listen()
  const created = (await gateway.createFile()).json()
  gateway.clock.advance(HOUR_MS - 200)
  const call = httpRequest(created.upload_url.replace('http://winnow.test', address), {
    method: 'PUT',
    headers: { 'content-length': FILE_BYTES.length },
  })
  call.write(FILE_BYTES.subarray(0, 4))
  const [reply] = await once(call, 'response')
  assert.equal(reply.statusCode, 410)
  call.destroy()
  assert.deepEqual(await onDisk(gateway), [])
})

test('3 outputs are removed when their time is over, and the result says that it has expired', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.completed()
  const { data, retention } = (await gateway.getResult(requestId)).json()
  const listed = async () => (await gateway.call('GET', `${API}/requests`)).json().data[0].retention
  assert.deepEqual(await listed(), retention)
  gateway.clock.advance(7 * DAY_MS - 1)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), outputsOf(requestId))
  assert.equal((await gateway.call('GET', data.target.url)).body, 'target')
  gateway.clock.advance(1)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [])
  const reply = await gateway.getResult(requestId)
  assertError(reply, 'NOT_FOUND')
  assert.match(reply.json().error.message, new RegExp(`has expired.*${retention.delete_after}`))
  assert.equal((await gateway.statusOf(requestId)).status, 'COMPLETED')
  assert.ok((await gateway.call('GET', data.target.url)).statusCode >= 400, 'nothing is served')
  assert.deepEqual(await listed(), retention)
})

test('3 the media of failed and canceled requests is removed', async (t) => {
  const gateway = await startGateway(t)
  const [failed, canceled] = [await gateway.submitted(), await gateway.submitted()]
  for (const requestId of [failed, canceled]) {
    const { upload_urls: urls } = gateway.broker.jobOf(requestId)
    await gateway.putOutput(urls.target!, 'half the work')
    await gateway.event('started', requestId)
  }
  await sweep(gateway.deps)
  assert.equal((await onDisk(gateway)).length, 4) // two inputs, two targets
  await gateway.event('failed', failed)
  await gateway.call('PUT', `${API}/requests/${canceled}/cancel`)
  await sweep(gateway.deps)
  assert.deepEqual(await outputsOnDisk(gateway), [])
})

test('3 an output written while its request fails leaves nothing behind', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const { upload_urls: urls } = gateway.broker.jobOf(requestId)
  await gateway.event('started', requestId)
  const stage = gateway.disk.stage.bind(gateway.disk)
  gateway.disk.stage = async (...args) => {
    await gateway.event('failed', requestId)
    await sweep(gateway.deps)
    return stage(...args)
  }
  const late = await gateway.putOutput(urls.target!, 'late')
  assertError(late, 'REQUEST_FINISHED')
  assert.deepEqual(await outputsOnDisk(gateway), [])
})

test('3 a record is removed after its retention time, with everything that depends on it', async (t) => {
  const gateway = await startGateway(t, { config: { outputDays: 7, recordDays: 30 } })
  const reply = await gateway.submit({}, {}, { 'idempotency-key': 'key-1' })
  await gateway.publish()
  const requestId = reply.json().request_id
  const logs = [{ timestamp: '2026-01-02T03:04:05.678Z', message: 'a line' }]
  await gateway.event('started', requestId, { logs })
  await gateway.complete(requestId)
  gateway.clock.advance(30 * DAY_MS - 1)
  await sweep(gateway.deps)
  assert.equal((await gateway.call('GET', `${API}/requests/${requestId}/status`)).statusCode, 200)
  gateway.clock.advance(1)
  await sweep(gateway.deps)
  assertError(await gateway.call('GET', `${API}/requests/${requestId}/status`), 'NOT_FOUND')
  assert.deepEqual(await leftRows(gateway), ['files'])
  gateway.clock.advance(2 * DAY_MS)
  await sweep(gateway.deps)
  gateway.clock.advance(30 * DAY_MS)
  await sweep(gateway.deps)
  assert.equal((await gateway.rows('files')).length, 0)
})

test('3 a record stays until its request is finished and its outputs are removed', async (t) => {
  const gateway = await startGateway(t, { config: { outputDays: 60, recordDays: 30 } })
  const [waiting, done] = [await gateway.submitted(), await gateway.completed()]
  gateway.clock.advance(59 * DAY_MS)
  await sweep(gateway.deps)
  assert.equal((await gateway.getResult(done)).statusCode, 200)
  assert.equal((await gateway.statusOf(waiting)).status, 'IN_QUEUE')
  gateway.clock.advance(DAY_MS)
  await sweep(gateway.deps)
  assertError(await gateway.getResult(done), 'NOT_FOUND')
  assert.equal((await gateway.call('GET', `${API}/requests/${waiting}/status`)).statusCode, 200)
})

test('3 after an interrupted sweep nothing expired is served, and the next sweep finishes the work', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const { source } = gateway.broker.jobOf(requestId)
  await gateway.complete(requestId)
  gateway.clock.advance(7 * DAY_MS)
  const { disk } = gateway
  const broken = instead(disk, {
    remove: async () => {
      throw new Error('the disk is away')
    },
  })
  await sweep({ ...gateway.deps, mediaStore: broken })
  assert.equal((await onDisk(gateway)).length, 6)
  assert.equal(await removals(gateway), 2)
  assertError(await gateway.getResult(requestId), 'NOT_FOUND')
  gateway.clock.advance(-1) // even if the clock goes back a little
  assertError(await gateway.call('GET', source.url), 'NOT_FOUND')
  assertError(await gateway.getResult(requestId), 'NOT_FOUND')
  gateway.clock.advance(1)
  let calls = 0
  const halfway = instead(disk, {
    remove: async (key) => {
      await disk.remove(key)
      calls += 1
      if (calls === 1) throw new Error('ended right after the bytes were gone')
    },
  })
  await sweep({ ...gateway.deps, mediaStore: halfway })
  assert.equal(await removals(gateway), 1)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [])
  assert.equal(await removals(gateway), 0)
})

test('3 media that no row refers to is deleted once it is older than a day', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.completed()
  const stored = await onDisk(gateway)
  const reported = stored.filter((path) => !path.endsWith('_video')) // the engine did not report them
  const media = join(gateway.folder, 'media')
  const put = async (path: string, ageMs: number, now = gateway.clock.now()) => {
    await mkdir(dirname(join(media, path)), { recursive: true })
    await writeFile(join(media, path), 'orphan')
    const at = new Date(now - ageMs)
    await utimes(join(media, path), at, at)
  }
  for (const path of stored) {
    const old = new Date(gateway.clock.now() - 3 * DAY_MS)
    await utimes(join(media, path), old, old)
  }
  await put('inputs/file_gone', DAY_MS + 1)
  await put('inputs/file_new', DAY_MS - 1_000)
  await put('outputs/req_gone/target', DAY_MS + 1)
  await put('outputs/req_gone/residual', DAY_MS + 1)
  await put('notes/readme', 9 * DAY_MS) // not made by the gateway
  await put('.new/of-a-gateway-that-died', 2 * HOUR_MS, Date.now())
  await sweepOrphans(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [...reported, 'inputs/file_new', 'notes/readme'].sort())
  assert.deepEqual(await readdir(join(media, 'outputs')), [requestId])
})

test('3 one turn sweeps more than a page of each kind', async (t) => {
  const gateway = await startGateway(t)
  await gateway.uploadFile()
  const [row] = await gateway.rows('files')
  const copies = Array.from({ length: 450 }, (_, i) => ({ ...row!, file_id: `file_${i}` }))
  for (let i = 0; i < copies.length; i += 50) {
    await gateway.store
      .insertInto('files')
      .values(copies.slice(i, i + 50))
      .execute()
  }
  gateway.clock.advance(DAY_MS)
  await sweep(gateway.deps)
  assert.deepEqual(await onDisk(gateway), [])
  const files = await gateway.rows('files')
  assert.ok(files.every((file) => file.media_removed_at !== null))
  assert.equal(await removals(gateway), 0)
})

test("3 media that can't be deleted does not stop others from being deleted", async (t) => {
  const gateway = await startGateway(t)
  const stuck = (key: string) => /stuck/.test(key)
  const mediaStore = instead(gateway.disk, {
    remove: async (key) => {
      if (stuck(key)) throw new Error('a damaged block')
      await gateway.disk.remove(key)
    },
  })
  const old = new Date(gateway.clock.now() - 2 * DAY_MS)
  const rows = Array.from({ length: 250 }, (_, i) => ({
    media_key: `inputs/stuck_${i}`,
    created_at: old.toISOString(),
  }))
  await gateway.store.insertInto('media_removals').values(rows).execute()
  const later = { media_key: 'inputs/file_1', created_at: isoTime(gateway.clock.now()) }
  await gateway.store.insertInto('media_removals').values(later).execute()
  for (let turn = 0; turn < 2; turn += 1) {
    gateway.clock.advance(60_000)
    await sweep({ ...gateway.deps, mediaStore })
  }
  const left = await gateway.rows('media_removals')
  assert.equal(left.length, 250)
  assert.ok(left.every((row) => stuck(row.media_key)))

  const inputs = join(gateway.folder, 'media', 'inputs')
  await mkdir(inputs, { recursive: true })
  for (const name of ['file_a', 'file_stuck', 'file_z']) {
    await writeFile(join(inputs, name), 'orphan')
    await utimes(join(inputs, name), old, old)
  }
  await sweepOrphans({ ...gateway.deps, mediaStore })
  assert.deepEqual(await onDisk(gateway), ['inputs/file_stuck'])
})

test("3 an upload to a bucket that can't be processed does not stop others from being checked", async (t) => {
  const gateway = await startGateway(t)
  const dropped: string[] = []
  const bucket = instead(gateway.disk as unknown as Bucket, {
    kind: 's3',
    pendingUploads: async function* () {
      yield* ['inputs/file_stuck', 'inputs/file_gone']
    },
    dropPendingUpload: async (key: string) => {
      if (key === 'inputs/file_stuck') throw new Error('access denied')
      dropped.push(key)
    },
  })
  const deps = { ...gateway.deps, mediaStore: bucket }
  await sweep({ ...deps, pendingUploads: new PendingUploads(deps) })
  assert.deepEqual(dropped, ['inputs/file_gone'])
})
