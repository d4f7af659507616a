/** What engines store of long requests: docs/decisions/queue.md. */

import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'node:test'
import { SEGMENT_BYTES_MAX, SEGMENTS_MAX } from '../../shared/checkpoint.ts'
import { DAY_MS } from '../../shared/durations.ts'
import type { Job } from '../../shared/messages.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  callWith,
  complete,
  startGateway,
  submitted,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

/** Media at an address counts as long until it is measured. */
const LONG = { audio_url: 'https://media.test/long.wav' }
const BYTES = Buffer.from('a segment')

const put = (gateway: Gateway, job: Job, segment = 0) =>
  gateway.call('PUT', job.checkpoint_urls![segment]!.put, { body: BYTES })

const get = (gateway: Gateway, job: Job, segment = 0) =>
  gateway.call('GET', job.checkpoint_urls![segment]!.get)

const isKept = ({ folder }: Gateway, requestId: string) =>
  access(join(folder, 'media', 'outputs', requestId, 'checkpoint')).then(
    () => true,
    () => false,
  )

async function startLong(...args: Parameters<typeof startGateway>) {
  const gateway = await startGateway(...args)
  const requestId = await submitted(gateway, LONG)
  return { gateway, requestId, job: gateway.broker.jobOf(requestId) }
}

test('a long request has a checkpoint, which its next job finds; short requests and lists have none', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  assert.equal(job.checkpoint_urls!.length, SEGMENTS_MAX)
  assert.equal((await get(gateway, job)).statusCode, 404)
  assert.equal((await put(gateway, job, 1)).statusCode, 200)
  await gateway.event('started', requestId)
  await gateway.event('released', requestId)
  await gateway.publish()
  const next = [...gateway.broker.jobs.values()].at(-1)!
  assert.notEqual(next, job)
  const found = await get(gateway, next, 1)
  assert.deepEqual([found.statusCode, found.rawPayload], [200, BYTES])
  assert.equal((await get(gateway, next)).statusCode, 404)

  const short = gateway.broker.jobOf(await submitted(gateway))
  assert.equal(short.checkpoint_urls, undefined)
  const list = await gateway.call('POST', `${API}/audio/sounds`, { body: { input: LONG } })
  await gateway.publish()
  assert.equal(gateway.broker.jobOf(list.json().request_id).checkpoint_urls, undefined)
})

test('only the address of a job leads to a checkpoint, and only to its own', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  await put(gateway, job)
  const other = gateway.broker.jobOf(await submitted(gateway, LONG))
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
  assertError(
    await gateway.call('PUT', await gateway.disk.uploadUrl(address), { body: BYTES }),
    'PERMISSION_DENIED',
  )
  const stranger = callWith(gateway, await gateway.newKey())
  for (const url of [
    `/v1/files/${requestId}/checkpoint/0`,
    `${API}/requests/${requestId}/result`,
  ]) {
    assert.equal((await stranger('GET', url)).statusCode, 404)
  }
})

for (const end of ['completed', 'failed', 'canceled', 'deleted'] as const) {
  test(`a checkpoint is deleted with its request, once it is ${end}`, async (t) => {
    const { gateway, requestId, job } = await startLong(t)
    await gateway.event('started', requestId)
    await put(gateway, job)
    assert.ok(await isKept(gateway, requestId))
    if (end === 'completed') await complete(gateway, requestId, { duration: 61 })
    else if (end === 'failed') await gateway.event('failed', requestId)
    else await gateway.call('PUT', `${API}/requests/${requestId}/cancel`)
    if (end === 'deleted') await gateway.call('DELETE', `${API}/requests/${requestId}`)
    await sweep(gateway.deps)
    assert.ok(!(await isKept(gateway, requestId)))
    assertError(await put(gateway, job), 'REQUEST_FINISHED')
    assert.ok(!(await isKept(gateway, requestId)), 'nothing comes late')
  })
}

test("the sweep finds what an engine stores behind the gateway's back after the end", async (t) => {
  const gateway = await startGateway(t)
  gateway.clock.advance(Date.now() - gateway.clock.now())
  const requestId = await submitted(gateway, LONG)
  await complete(gateway, requestId, { duration: 61 })
  await sweep(gateway.deps)
  const limits = { silentMsMax: 1_000, signal: AbortSignal.timeout(10_000) }
  const staged = await gateway.disk.stage(Readable.from([BYTES]), limits)
  await staged.place(`outputs/${requestId}/checkpoint/0`)
  gateway.clock.advance(2 * DAY_MS)
  await sweepOrphans(gateway.deps)
  await assert.rejects(
    access(join(gateway.folder, 'media', 'outputs', requestId, 'checkpoint', '0')),
  )
})

test('a checkpoint is bounded, and takes at most an eighth of the free space', async (t) => {
  const { gateway, requestId, job } = await startLong(t)
  gateway.free.bytes = 8 * BYTES.length - 1
  assertError(await put(gateway, job), 'PAYLOAD_TOO_LARGE')
  gateway.free.bytes += 1
  assert.equal((await put(gateway, job)).statusCode, 200)
  assert.ok(await isKept(gateway, requestId))
  assert.ok(SEGMENTS_MAX * SEGMENT_BYTES_MAX <= 6 * 2 ** 30)
})
