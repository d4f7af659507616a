/** What can be heard of a request in progress: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { HOUR_MS } from '../../shared/durations.ts'
import { isoTime } from '../../shared/clock.ts'
import { LIVE_PART_BYTES_MAX, LIVE_PARTS_MAX } from '../../shared/live-preview.ts'
import type { Job } from '../../shared/messages.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  ATTEMPT_ID,
  complete,
  startGateway,
  submitted,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

/** What is at such an address is long until it is measured. */
const LONG = { audio_url: 'https://media.test/long.wav', preview: true }
const BYTES = Buffer.from('a part')

const put = (gateway: Gateway, job: Job, part = 0, body = BYTES) =>
  gateway.call('PUT', job.live_preview_urls![part]!, { body })

const liveOf = (requestId: string) => `${API}/requests/${requestId}/live-preview`

const isKept = ({ folder }: Gateway, requestId: string) =>
  access(join(folder, 'media', 'outputs', requestId, 'live')).then(
    () => true,
    () => false,
  )

/** An attempt says what it has stored. */
const report = ({ feed, clock }: Gateway, requestId: string, attempt: string, parts: number) =>
  feed.progressed({
    request_id: requestId,
    attempt_id: attempt,
    at: isoTime(clock.now()),
    progress: parts / 100,
    live_preview: { parts, seconds: 5 * parts },
  })

async function startLong(...given: Parameters<typeof startGateway>) {
  const gateway = await startGateway(...given)
  const requestId = await submitted(gateway, LONG)
  return { gateway, requestId, job: gateway.broker.jobOf(requestId) }
}

test('what an attempt has stored can be heard; a later attempt begins anew', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  const { call } = gateway
  const status = async () => (await call('GET', `${API}/requests/${requestId}/status`)).json()
  assert.equal(job.live_preview_urls!.length, LIVE_PARTS_MAX)
  assertError(await call('GET', liveOf(requestId)), 'NOT_FOUND')
  await gateway.event('started', requestId, { duration: 600 })
  assert.equal((await status()).preview_seconds, undefined)
  await put(gateway, job)
  await put(gateway, job, 1, Buffer.from('another part'))
  report(gateway, requestId, ATTEMPT_ID, 2)
  report(gateway, requestId, 'att_of_nobody', 3)
  report(gateway, requestId, ATTEMPT_ID, 2) // and once more
  assert.equal((await status()).preview_seconds, 10)

  const live = (await call('GET', liveOf(requestId))).json()
  assert.deepEqual([live.attempt, live.seconds, live.duration], [ATTEMPT_ID, 10, 600])
  const [first, second] = live.part_urls
  assert.equal((await call('GET', first, { key: null })).rawPayload.toString(), 'a part')
  const range = { key: null, headers: { range: 'bytes=0-3' } }
  assert.deepEqual((await call('GET', second, range)).body, 'anot')

  await gateway.event('released', requestId)
  assert.equal((await status()).preview_seconds, undefined)
  assertError(await call('GET', liveOf(requestId)), 'NOT_FOUND')
  const later = { attempt_id: 'att_later', duration: 600 }
  gateway.clock.advance(1_000)
  await gateway.event('started', requestId, later)
  report(gateway, requestId, ATTEMPT_ID, 4) // of the attempt before, late
  assert.equal((await status()).preview_seconds, undefined)
  report(gateway, requestId, 'att_later', 1)
  assert.deepEqual((await call('GET', liveOf(requestId))).json().attempt, 'att_later')
})

test('nobody but its account and its engine reaches it, and not for long', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  await gateway.event('started', requestId, { duration: 600 })
  await put(gateway, job)
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
  test(`it is deleted with its request, once it is ${end}`, async (t) => {
    const { gateway, requestId, job } = await startLong(t)
    await gateway.event('started', requestId, { duration: 600 })
    await put(gateway, job)
    report(gateway, requestId, ATTEMPT_ID, 1)
    const [url] = (await gateway.call('GET', liveOf(requestId))).json().part_urls
    if (end === 'completed') await complete(gateway, requestId, { duration: 61 })
    else if (end === 'failed') await gateway.event('failed', requestId)
    else await gateway.call('PUT', `${API}/requests/${requestId}/cancel`)
    if (end === 'deleted') await gateway.call('DELETE', `${API}/requests/${requestId}`)
    report(gateway, requestId, ATTEMPT_ID, 1)
    assertError(await gateway.call('GET', url), 'NOT_FOUND')
    assertError(await gateway.call('GET', liveOf(requestId)), 'NOT_FOUND')
    await sweep(gateway.deps)
    assert.ok(!(await isKept(gateway, requestId)))
    assertError(await put(gateway, job), 'REQUEST_FINISHED')
    assert.ok(!(await isKept(gateway, requestId)), 'nothing comes late')
  })
}

test('without a preview, or of short media, there is none; what is stored is bounded', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  const plain = gateway.broker.jobOf(await submitted(gateway, { audio_url: LONG.audio_url }))
  assert.equal(plain.live_preview_urls, undefined)
  const short = gateway.broker.jobOf(await submitted(gateway, { preview: true }))
  assert.equal(short.live_preview_urls, undefined)
  gateway.free.bytes = 8 * BYTES.length - 1
  assertError(await put(gateway, job), 'PAYLOAD_TOO_LARGE')
  gateway.free.bytes += 1
  assert.equal((await put(gateway, job)).statusCode, 200)
  assert.ok(await isKept(gateway, requestId))
  assert.ok(LIVE_PARTS_MAX * LIVE_PART_BYTES_MAX <= 2 * 2 ** 30)
})
