/** Where inputs and outputs are stored, and how a slow disk affects them: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { DAY_MS } from '../../shared/durations.ts'
import type { Job } from '../../shared/messages.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  FILE_BYTES,
  type Gateway,
  outputsOf,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { onDisk } from '../support/gateway/stored.ts'

const result = async (gateway: Gateway, requestId: string) =>
  (await gateway.getResult(requestId)).json().data

const put = (gateway: Gateway, job: Job, attemptId: string, text: string) =>
  gateway.putOutput(job.upload_urls.target!, text, attemptId)

/** Returns the paths of all outputs below their folder. */
const outputsOnDisk = async (gateway: Gateway): Promise<string[]> =>
  (await onDisk(gateway))
    .filter((path) => path.startsWith('outputs/'))
    .map((path) => path.slice('outputs/'.length))

/** Makes a disk tell when it is asked to place media, and wait until it is allowed to. */
function holdPlacing({ disk }: Gateway) {
  let allow!: () => void
  const allowed = new Promise<void>((resolve) => (allow = resolve))
  const stage = disk.stage.bind(disk)
  const placing = new Promise<void>((resolve) => {
    disk.stage = async (...args) => {
      const staged = await stage(...args)
      const place = async (key: string) => {
        resolve()
        await allowed
        await staged.place(key)
      }
      return { ...staged, place }
    }
  })
  return { placing, allow }
}

async function start(t: TestContext) {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  return { gateway, requestId, job: gateway.broker.jobOf(requestId) }
}

/** Completes a request with the outputs of the attempt `won`. */
const completeWon = (gateway: Gateway, requestId: string, job: Job) =>
  gateway.event('completed', requestId, { outputs: outputsOf(job, 'won') })

for (const kind of ['input', 'output'] as const) {
  test(`a disk that is slow to store an ${kind} delays no other call`, async (t) => {
    const gateway = await startGateway(t)
    const job = gateway.broker.jobOf(await gateway.submitted())
    const created = await gateway.createFile()
    const disk = holdPlacing(gateway)
    const storing =
      kind === 'input'
        ? gateway.call('PUT', created.json().upload_url, { body: FILE_BYTES })
        : put(gateway, job, 'won', 'won')
    await disk.placing
    assert.equal((await gateway.call('GET', '/v1/account')).statusCode, 200)
    assert.equal((await gateway.createFile()).statusCode, 201)
    disk.allow()
    assert.equal((await storing).statusCode, 200)
  })
}

test("each attempt has its own place, so another's outputs replace nothing", async (t) => {
  const { gateway, requestId, job } = await start(t)
  for (const attemptId of ['lost', 'won']) {
    await gateway.event('started', requestId, { attempt_id: attemptId })
    await gateway.uploadOutputs(job, { attemptId, content: attemptId })
  }
  await gateway.uploadOutputs(job, { attemptId: 'lost', content: 'late' })
  const outputs = outputsOf(job, 'won')
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
  const { gateway, requestId, job } = await start(t)
  await gateway.uploadOutputs(job, { attemptId: 'won', content: 'won' })
  const disk = holdPlacing(gateway)
  const late = put(gateway, job, 'lost', 'late')
  await disk.placing
  await completeWon(gateway, requestId, job)
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
  const { gateway, requestId, job } = await start(t)
  await gateway.uploadOutputs(job, { attemptId: 'won', content: 'won' })
  const disk = holdPlacing(gateway)
  const again = put(gateway, job, 'won', 'won')
  await disk.placing
  await completeWon(gateway, requestId, job)
  disk.allow()
  assert.equal((await again).statusCode, 200)
  const { target } = await result(gateway, requestId)
  assert.equal((await gateway.call('GET', target.url)).body, 'won')
})

test('outputs of an unknown attempt are found and removed, and the others stay', async (t) => {
  const gateway = await startGateway(t)
  gateway.clock.advance(Date.now() - gateway.clock.now())
  const requestId = await gateway.submitted()
  const job = gateway.broker.jobOf(requestId)
  await gateway.uploadOutputs(job, { attemptId: 'unknown' })
  await gateway.uploadOutputs(job, { attemptId: 'won' })
  await completeWon(gateway, requestId, job)
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

test('an output whose upload names no attempt is refused', async (t) => {
  const { gateway, job } = await start(t)
  for (const attemptId of ['', '../other']) {
    assertError(await put(gateway, job, attemptId, 'x'), 'INVALID_REQUEST')
  }
  assert.deepEqual(await outputsOnDisk(gateway), [])
})

test('what 0.2.0 stored has no place, and is still served', async (t) => {
  const { gateway, requestId } = await start(t)
  const folder = join(gateway.folder, 'media', 'outputs', requestId)
  await mkdir(folder, { recursive: true })
  for (const part of ['target', 'residual']) await writeFile(join(folder, part), part)
  await gateway.event('completed', requestId) // without places and peaks
  await sweepOrphans(gateway.deps)
  const { target } = await result(gateway, requestId)
  assert.equal((await gateway.call('GET', target.url)).body, 'target')
  assertError(await gateway.call('GET', peaksOf(requestId)), 'NOT_FOUND')
})

const peaksOf = (requestId: string) => `${API}/requests/${requestId}/peaks`

test('the peaks that an engine stored are found at a signed address, as JSON', async (t) => {
  const gateway = await startGateway(t)
  for (const input of [{}, { prompts: ['vocals', 'drums'] }]) {
    const requestId = await gateway.completed(input)
    const found = await gateway.call('GET', peaksOf(requestId))
    assert.equal(found.statusCode, 302, found.body)
    const peaks = await gateway.call('GET', String(found.headers.location), { key: null })
    assert.equal(peaks.body, 'peaks')
    assert.equal(peaks.headers['content-type'], 'application/json')
    assert.match(String(peaks.headers['content-disposition']), /concert.peaks\.json/)
  }
})

test('a preview that was asked for is in the result, read by ranges and deleted with it', async (t) => {
  const gateway = await startGateway(t)
  const plain = await gateway.complete(await gateway.submitted())
  assert.equal(plain.upload_urls.preview, undefined)
  const requestId = await gateway.submitted({ preview: true })
  const job = await gateway.complete(requestId)
  assert.ok(!('preview' in job.options), 'engines of earlier versions would return the job')
  const { preview_url: address } = (await gateway.getResult(requestId)).json().data
  const part = await gateway.call('GET', address, { key: null, headers: { range: 'bytes=1-3' } })
  assert.deepEqual([part.statusCode, part.body], [206, 'rev'])
  assert.equal(part.headers['content-type'], 'audio/ogg')
  assertError(
    await gateway.call('GET', address.replace(/signature=..../, 'signature=0000')),
    'PERMISSION_DENIED',
  )
  gateway.clock.advance(7 * DAY_MS)
  await sweep(gateway.deps)
  assert.ok((await gateway.call('GET', address)).statusCode >= 400)
})

test('who may read the result may read them, for as long', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  assertError(await gateway.call('GET', peaksOf(requestId)), 'RESULT_NOT_READY')
  await gateway.complete(requestId)
  const address = String((await gateway.call('GET', peaksOf(requestId))).headers.location)
  const path = peaksOf(requestId)
  assertError(await gateway.call('GET', path, { key: null }), 'UNAUTHENTICATED')
  assertError(await gateway.call('GET', path, { key: await gateway.newKey() }), 'NOT_FOUND')
  const reader = await gateway.newKey(['files:read'])
  assertError(await gateway.call('GET', path, { key: reader }), 'PERMISSION_DENIED')
  const forged = address.replace(/signature=..../, 'signature=0000')
  assertError(await gateway.call('GET', forged), 'PERMISSION_DENIED')
  gateway.clock.advance(7 * DAY_MS)
  await sweep(gateway.deps)
  assertError(await gateway.call('GET', path), 'NOT_FOUND')
  assert.ok((await gateway.call('GET', address)).statusCode >= 400)
})
