/** Where inputs and outputs are stored, and how a slow disk affects them: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import test from 'node:test'
import { DAY_MS } from '../../shared/durations.ts'
import type { Job } from '../../shared/messages.ts'
import { ATTEMPT_HEADER, PLACE_HEADER } from '../../shared/output-places.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  createFileBody,
  FILE_BYTES,
  outputsOf,
  placed,
  startGateway,
  submitted,
  uploadOutputs,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

const result = async (gateway: Gateway, requestId: string) =>
  (await gateway.call('GET', `${API}/requests/${requestId}/result`)).json().data

const put = (gateway: Gateway, job: Job, attemptId: string | null, text: string) =>
  gateway.call('PUT', job.upload_urls.target!, {
    body: Buffer.from(text),
    headers: attemptId === null ? {} : { [ATTEMPT_HEADER]: attemptId },
  })

async function outputsOnDisk({ folder }: Gateway): Promise<string[]> {
  const outputs = join(folder, 'media', 'outputs')
  const entries = await readdir(outputs, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(outputs, join(entry.parentPath, entry.name)))
    .sort()
}

/** Awaits `before` ahead of each placing of media, like a disk that takes this long. */
function delayPlacing({ disk }: Gateway, before: () => Promise<unknown>): void {
  const stage = disk.stage.bind(disk)
  disk.stage = async (...args) => {
    const staged = await stage(...args)
    const place = async (key: string) => {
      await before()
      await staged.place(key)
    }
    return { ...staged, place }
  }
}

/** Makes a disk tell when it is asked to place media, and wait until it is allowed to. */
function holdPlacing(gateway: Gateway) {
  let allow!: () => void
  const allowed = new Promise<void>((resolve) => (allow = resolve))
  const placing = new Promise<void>((resolve) =>
    delayPlacing(gateway, () => {
      resolve()
      return allowed
    }),
  )
  return { placing, allow }
}

for (const kind of ['input', 'output'] as const) {
  test(`a disk that is slow to store an ${kind} delays no other call`, async (t) => {
    const gateway = await startGateway(t)
    const job = gateway.broker.jobOf(await submitted(gateway))
    const created = await gateway.call('POST', '/v1/files', { body: createFileBody() })
    const url = kind === 'input' ? created.json().upload_url : job.upload_urls.target!
    const disk = holdPlacing(gateway)
    const storing = gateway.call('PUT', url, { body: FILE_BYTES })
    await disk.placing
    assert.equal((await gateway.call('GET', '/v1/account')).statusCode, 200)
    assert.equal(
      (await gateway.call('POST', '/v1/files', { body: createFileBody() })).statusCode,
      201,
    )
    disk.allow()
    assert.equal((await storing).statusCode, 200)
  })
}

test("each attempt has its own place, so another's outputs replace nothing", async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const job = gateway.broker.jobOf(requestId)
  for (const attemptId of ['lost', 'won']) {
    await gateway.event('started', requestId, { attempt_id: attemptId })
    await uploadOutputs(gateway, job, { attemptId, text: attemptId })
  }
  await uploadOutputs(gateway, job, { attemptId: 'lost', text: 'late' })
  const outputs = placed(outputsOf(job), 'won')
  await gateway.event('completed', requestId, { attempt_id: 'won', outputs })
  assertError(await put(gateway, job, 'lost', 'later'), 'REQUEST_FINISHED')

  const { target, residual } = await result(gateway, requestId)
  for (const { url } of [target, residual])
    assert.equal((await gateway.call('GET', url)).body, 'won')
  const peaks = await gateway.call('GET', `${API}/requests/${requestId}/peaks`)
  assert.equal((await gateway.call('GET', peaks.headers.location!)).body, 'won')

  await sweep(gateway.deps)
  const left = await outputsOnDisk(gateway)
  assert.ok(
    left.length > 0 && left.every((path) => path.startsWith(`${requestId}/won/`)),
    `${left}`,
  )
  assert.equal((await gateway.call('GET', target.url)).body, 'won')
})

test('an upload that only gets its place after the end is removed again', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const job = gateway.broker.jobOf(requestId)
  await uploadOutputs(gateway, job, { attemptId: 'won', text: 'won' })
  const disk = holdPlacing(gateway)
  const late = put(gateway, job, 'lost', 'late')
  await disk.placing
  await gateway.event('completed', requestId, { outputs: placed(outputsOf(job), 'won') })
  disk.allow()
  assertError(await late, 'REQUEST_FINISHED')
  const left = await outputsOnDisk(gateway)
  assert.ok(
    left.every((path) => path.startsWith(`${requestId}/won/`)),
    `${left}`,
  )
  const { target } = await result(gateway, requestId)
  assert.equal((await gateway.call('GET', target.url)).body, 'won')
})

test('an upload that an attempt repeats while it completes keeps its output', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const job = gateway.broker.jobOf(requestId)
  await uploadOutputs(gateway, job, { attemptId: 'won', text: 'won' })
  const disk = holdPlacing(gateway)
  const again = put(gateway, job, 'won', 'won')
  await disk.placing
  await gateway.event('completed', requestId, { outputs: placed(outputsOf(job), 'won') })
  disk.allow()
  assert.equal((await again).statusCode, 200)
  const { target } = await result(gateway, requestId)
  assert.equal((await gateway.call('GET', target.url)).body, 'won')
})

test('outputs of an unknown attempt are found and removed, and the others stay', async (t) => {
  const gateway = await startGateway(t)
  gateway.clock.advance(Date.now() - gateway.clock.now())
  const requestId = await submitted(gateway)
  const job = gateway.broker.jobOf(requestId)
  await uploadOutputs(gateway, job, { attemptId: 'unknown' })
  await put(gateway, job, null, 'of an engine of 0.2.0')
  await uploadOutputs(gateway, job, { attemptId: 'won' })
  await gateway.event('completed', requestId, { outputs: placed(outputsOf(job), 'won') })
  await sweep(gateway.deps)
  gateway.clock.advance(2 * DAY_MS)
  await sweepOrphans(gateway.deps)
  const { gain_db: _, ...files } = outputsOf(job)
  const parts = Object.keys(files).sort()
  assert.deepEqual(
    await outputsOnDisk(gateway),
    parts.map((part) => `${requestId}/won/${part}`),
  )
})

test('an engine of 0.2.0 names no attempt, so its outputs go where they used to', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const job = gateway.broker.jobOf(requestId)
  for (const [part, url] of Object.entries(job.upload_urls)) {
    const reply = await gateway.call('PUT', url, { body: Buffer.from(part) })
    assert.deepEqual([reply.statusCode, reply.headers[PLACE_HEADER]], [200, undefined])
  }
  await gateway.event('completed', requestId, { outputs: outputsOf(job) })
  const { target } = await result(gateway, requestId)
  assert.equal((await gateway.call('GET', target.url)).body, 'target')
  await sweepOrphans(gateway.deps)
  assert.equal((await gateway.call('GET', target.url)).body, 'target')
})

test("an address signed by a gateway of 0.2.0 leads to the output's place", async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const job = gateway.broker.jobOf(requestId)
  await uploadOutputs(gateway, job, { attemptId: 'won' })
  await gateway.event('completed', requestId, { outputs: placed(outputsOf(job), 'won') })
  const url = await gateway.disk.downloadUrl({
    key: `outputs/${requestId}/target`,
    audience: 'client',
    expiresAt: gateway.clock.now() + DAY_MS,
    fileName: 'a.wav',
  })
  assert.equal((await gateway.call('GET', url)).body, 'target')
})
