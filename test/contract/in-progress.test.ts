/**
 * What engines store of long requests in progress: checkpoints (docs/decisions/queue.md) and live
 * previews (docs/decisions/api.md).
 */

import assert from 'node:assert/strict'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'node:test'
import { SEGMENT_BYTES_MAX, SEGMENTS_MAX } from '../../shared/checkpoint.ts'
import { isoTime } from '../../shared/clock.ts'
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts'
import { LIVE_PART_BYTES_MAX, LIVE_PARTS_MAX } from '../../shared/live-preview.ts'
import type { Job } from '../../shared/messages.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  ATTEMPT_ID,
  byAnother,
  type Gateway,
  startGateway,
} from '../support/gateway/start-gateway.ts'

/** Media at an address counts as long until it is measured. */
const LONG = { audio_url: 'https://media.test/long.wav', preview: true }
const BYTES = Buffer.from('a segment')

const putSegment = (gateway: Gateway, job: Job, segment = 0, body = BYTES) =>
  gateway.call('PUT', job.checkpoint_urls![segment]!.put, { body })

const getSegment = (gateway: Gateway, job: Job, segment = 0) =>
  gateway.call('GET', job.checkpoint_urls![segment]!.get)

const putPart = (gateway: Gateway, job: Job, part = 0, body = BYTES) =>
  gateway.call('PUT', job.live_preview_urls![part]!, { body })

const liveOf = (requestId: string) => `${API}/requests/${requestId}/live-preview`

/** Reports how much of the live preview an attempt has stored. */
const report = ({ feed, clock }: Gateway, requestId: string, attempt: string, parts: number) =>
  feed.progressed({
    request_id: requestId,
    attempt_id: attempt,
    at: isoTime(clock.now()),
    progress: parts / 100,
    live_preview: { parts, seconds: 5 * parts },
  })

/** Returns which of a checkpoint and a live preview a request has on disk. */
async function storedOf({ folder }: Gateway, requestId: string): Promise<string[]> {
  const names = await readdir(join(folder, 'media', 'outputs', requestId)).catch(() => [])
  return names.filter((name) => ['checkpoint', 'live'].includes(name)).sort()
}

async function startLong(...args: Parameters<typeof startGateway>) {
  const gateway = await startGateway(...args)
  const requestId = await gateway.submitted(LONG)
  return { gateway, requestId, job: gateway.broker.jobOf(requestId) }
}

test('a long request has a checkpoint, which its next job finds', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  assert.equal(job.checkpoint_urls!.length, SEGMENTS_MAX)
  assert.equal((await getSegment(gateway, job)).statusCode, 404)
  for (const body of [Buffer.from('an earlier one'), BYTES]) {
    assert.equal((await putSegment(gateway, job, 1, body)).statusCode, 200)
  }
  await gateway.event('started', requestId)
  await gateway.event('released', requestId)
  await gateway.publish()
  const next = [...gateway.broker.jobs.values()].at(-1)!
  assert.notEqual(next, job)
  const found = await getSegment(gateway, next, 1)
  assert.deepEqual([found.statusCode, found.rawPayload], [200, BYTES])
  assert.equal((await getSegment(gateway, next)).statusCode, 404)
})

test('short requests and lists have no checkpoint, and those without a preview none in progress', async (t) => {
  const gateway = await startGateway(t)
  const short = gateway.broker.jobOf(await gateway.submitted({ preview: true }))
  const list = await gateway.call('POST', `${API}/audio/sounds`, {
    body: { input: { audio_url: LONG.audio_url } },
  })
  await gateway.publish()
  for (const job of [short, gateway.broker.jobOf(list.json().request_id)]) {
    assert.deepEqual([job.checkpoint_urls, job.live_preview_urls], [undefined, undefined])
  }
  const plain = gateway.broker.jobOf(await gateway.submitted({ audio_url: LONG.audio_url }))
  assert.equal(plain.live_preview_urls, undefined)
})

test('only the address of a job leads to a checkpoint, and only to its own', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  await putSegment(gateway, job)
  const other = gateway.broker.jobOf(await gateway.submitted(LONG))
  const [path, query] = job.checkpoint_urls![0]!.get.split('?')
  const [, queryOfOther] = other.checkpoint_urls![0]!.get.split('?')
  const [, queryOfPut] = job.checkpoint_urls![0]!.put.split('?')
  const segment = path!.replace(/0$/, '1')
  for (const url of [
    path!,
    `${path}?${queryOfOther}`,
    `${path}?${queryOfPut}`,
    `${segment}?${query}`,
  ]) {
    assertError(await gateway.call('GET', url), 'PERMISSION_DENIED')
  }
  const key = `outputs/${requestId}/checkpoint/0`
  const address = { key, audience: 'client', expiresAt: gateway.clock.now() + DAY_MS } as const
  const forClient = await gateway.disk.downloadUrl({ ...address, fileName: 'x' })
  assertError(await gateway.call('GET', forClient), 'PERMISSION_DENIED')
  const upload = await gateway.disk.uploadUrl(address)
  assertError(await gateway.call('PUT', upload, { body: BYTES }), 'PERMISSION_DENIED')
  const { call: stranger } = await byAnother(gateway)
  for (const url of [
    `/v1/files/${requestId}/checkpoint/0`,
    `${API}/requests/${requestId}/result`,
  ]) {
    assert.equal((await stranger('GET', url)).statusCode, 404)
  }
})

test('what an attempt has stored can be heard; a later attempt begins anew', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  const { call } = gateway
  const previewSeconds = async () => (await gateway.statusOf(requestId)).preview_seconds
  assert.equal(job.live_preview_urls!.length, LIVE_PARTS_MAX)
  assertError(await call('GET', liveOf(requestId)), 'NOT_FOUND')
  await gateway.event('started', requestId, { duration: 600 })
  assert.equal(await previewSeconds(), undefined)
  await putPart(gateway, job)
  await putPart(gateway, job, 1, Buffer.from('another part'))
  report(gateway, requestId, ATTEMPT_ID, 2)
  report(gateway, requestId, 'att_of_nobody', 3)
  report(gateway, requestId, ATTEMPT_ID, 2) // and once more
  assert.equal(await previewSeconds(), 10)

  const live = (await call('GET', liveOf(requestId))).json()
  assert.deepEqual([live.attempt, live.seconds, live.duration], [ATTEMPT_ID, 10, 600])
  const [first, second] = live.part_urls
  assert.deepEqual((await call('GET', first, { key: null })).rawPayload, BYTES)
  const range = { key: null, headers: { range: 'bytes=0-3' } }
  assert.deepEqual((await call('GET', second, range)).body, 'anot')

  await gateway.event('released', requestId)
  assert.equal(await previewSeconds(), undefined)
  assertError(await call('GET', liveOf(requestId)), 'NOT_FOUND')
  gateway.clock.advance(1_000)
  await gateway.event('started', requestId, { attempt_id: 'att_later', duration: 600 })
  report(gateway, requestId, ATTEMPT_ID, 4) // of the attempt before, late
  assert.equal(await previewSeconds(), undefined)
  report(gateway, requestId, 'att_later', 1)
  assert.deepEqual((await call('GET', liveOf(requestId))).json().attempt, 'att_later')
})

test('nobody but its account and its engine reaches a live preview, and not for long', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  await gateway.event('started', requestId, { duration: 600 })
  await putPart(gateway, job)
  report(gateway, requestId, ATTEMPT_ID, 1)
  const { call } = gateway
  assertError(await call('GET', liveOf(requestId), { key: null }), 'UNAUTHENTICATED')
  const stranger = { key: await gateway.newKey() }
  assertError(await call('GET', liveOf(requestId), stranger), 'NOT_FOUND')
  const reader = { key: await gateway.newKey(['files:read']) }
  assertError(await call('GET', liveOf(requestId), reader), 'PERMISSION_DENIED')
  const [url] = (await call('GET', liveOf(requestId))).json().part_urls
  assertError(await call('GET', url.replace('live/0', 'live/1')), 'PERMISSION_DENIED')
  assertError(await call('PUT', url, { body: BYTES }), 'PERMISSION_DENIED')
  gateway.clock.advance(HOUR_MS + 1_000)
  assertError(await call('GET', url), 'FILE_EXPIRED')
})

for (const end of ['completed', 'failed', 'canceled', 'deleted'] as const) {
  test(`both are deleted with their request, once it is ${end}`, async (t) => {
    const { gateway, requestId, job } = await startLong(t)
    await gateway.event('started', requestId, { duration: 600 })
    await putSegment(gateway, job)
    await putPart(gateway, job)
    report(gateway, requestId, ATTEMPT_ID, 1)
    const [url] = (await gateway.call('GET', liveOf(requestId))).json().part_urls
    assert.deepEqual(await storedOf(gateway, requestId), ['checkpoint', 'live'])
    if (end === 'completed') await gateway.complete(requestId, { duration: 61 })
    else if (end === 'failed') await gateway.event('failed', requestId)
    else await gateway.call('PUT', `${API}/requests/${requestId}/cancel`)
    if (end === 'deleted') await gateway.call('DELETE', `${API}/requests/${requestId}`)
    report(gateway, requestId, ATTEMPT_ID, 1)
    assertError(await gateway.call('GET', url), 'NOT_FOUND')
    assertError(await gateway.call('GET', liveOf(requestId)), 'NOT_FOUND')
    await sweep(gateway.deps)
    assert.deepEqual(await storedOf(gateway, requestId), [])
    for (const late of [await putSegment(gateway, job), await putPart(gateway, job)]) {
      assertError(late, 'REQUEST_FINISHED')
    }
    assert.deepEqual(await storedOf(gateway, requestId), [], 'nothing comes late')
  })
}

test("the sweep finds what an engine stores behind the gateway's back after the end", async (t) => {
  const gateway = await startGateway(t)
  gateway.clock.advance(Date.now() - gateway.clock.now())
  const requestId = await gateway.submitted(LONG)
  await gateway.complete(requestId, { duration: 61 })
  await sweep(gateway.deps)
  const limits = { silentMsMax: 1_000, signal: AbortSignal.timeout(10_000) }
  const staged = await gateway.disk.stage(Readable.from([BYTES]), limits)
  const segment = `outputs/${requestId}/checkpoint/0`
  await staged.place(segment)
  gateway.clock.advance(2 * DAY_MS)
  await sweepOrphans(gateway.deps)
  await assert.rejects(access(join(gateway.folder, 'media', segment)))
})

test('both are bounded, and take at most an eighth of the free space', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  for (const put of [putSegment, putPart]) {
    gateway.free.bytes = 8 * BYTES.length - 1
    assertError(await put(gateway, job), 'PAYLOAD_TOO_LARGE')
    gateway.free.bytes += 1
    assert.equal((await put(gateway, job)).statusCode, 200)
  }
  assert.deepEqual(await storedOf(gateway, requestId), ['checkpoint', 'live'])
  assert.ok(SEGMENTS_MAX * SEGMENT_BYTES_MAX <= 6 * 2 ** 30)
  assert.ok(LIVE_PARTS_MAX * LIVE_PART_BYTES_MAX <= 2 * 2 ** 30)
})
