/** Peaks and previews of the outputs (docs/decisions/api.md). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { DAY_MS } from '../../shared/durations.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, complete, startGateway, submitted } from '../support/gateway/start-gateway.ts'

const peaksOf = (requestId: string) => `${API}/requests/${requestId}/peaks`

test('the peaks that an engine stored are found at a signed address, as JSON', async (t) => {
  const gateway = await startGateway(t)
  for (const input of [{}, { prompts: ['vocals', 'drums'] }]) {
    const requestId = await submitted(gateway, input)
    await complete(gateway, requestId)
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
  const plain = await complete(gateway, await submitted(gateway))
  assert.equal(plain.upload_urls.preview, undefined)
  const requestId = await submitted(gateway, { preview: true })
  const job = await complete(gateway, requestId)
  assert.ok(!('preview' in job.options), 'engines of earlier versions would return the job')
  const path = `${API}/requests/${requestId}/result`
  const { preview_url: address } = (await gateway.call('GET', path)).json().data
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
  const requestId = await submitted(gateway)
  assertError(await gateway.call('GET', peaksOf(requestId)), 'RESULT_NOT_READY')
  await complete(gateway, requestId)
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

test('an engine that knows no peaks completes requests as before, without any', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId)
  assert.equal((await gateway.call('GET', `${API}/requests/${requestId}/result`)).statusCode, 200)
  assertError(await gateway.call('GET', peaksOf(requestId)), 'NOT_FOUND')
})
