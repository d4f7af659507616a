/** Downloads that a trusted nginx sends itself, by X-Accel-Redirect. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  complete,
  startGateway,
  submitted,
  uploadFile,
  type Gateway,
} from '../support/gateway/start-gateway.ts'

const PREFIX = '/winnow-media/'
const CONFIG = { trustedProxies: ['127.0.0.1/32'], mediaAccelPath: PREFIX }
const PROXIED = { 'x-forwarded-for': '203.0.113.5' }

/** Completes a request and returns the address of its target. */
async function targetUrl(gateway: Gateway): Promise<string> {
  const requestId = await submitted(gateway)
  await complete(gateway, requestId)
  const reply = await gateway.call('GET', `${API}/requests/${requestId}/result`)
  return reply.json().data.target.url
}

test('extension: a download through a trusted proxy names the file and has no body', async (t) => {
  const gateway = await startGateway(t, { config: CONFIG })
  const url = await targetUrl(gateway)
  const whole = await gateway.call('GET', url)
  const proxied = await gateway.call('GET', url, { headers: PROXIED })
  assert.equal(proxied.statusCode, 200)
  assert.equal(proxied.body, '')
  assert.match(
    String(proxied.headers['x-accel-redirect']),
    /^\/winnow-media\/outputs\/req_[\w/-]+$/,
  )
  for (const name of ['content-type', 'content-disposition']) {
    assert.equal(proxied.headers[name], whole.headers[name], name)
  }
  const forged = await gateway.call('GET', `${url}0`, { headers: PROXIED })
  assertError(forged, 'PERMISSION_DENIED')
})

test('extension: without such a proxy, for other origins and for engines, the response has the bytes', async (t) => {
  const gateway = await startGateway(t, { config: CONFIG })
  const url = await targetUrl(gateway)
  const crossOrigin = { ...PROXIED, origin: 'https://app.example.com' }
  for (const headers of [{}, crossOrigin]) {
    const { body, headers: responseHeaders } = await gateway.call('GET', url, { headers })
    assert.ok(body.length > 0)
    assert.equal(responseHeaders['x-accel-redirect'], undefined)
  }
  const wary = await startGateway(t, { config: { mediaAccelPath: PREFIX } })
  const untrusted = await wary.call('GET', await targetUrl(wary), { headers: PROXIED })
  assert.ok(untrusted.body.length > 0)
  const fileId = await uploadFile(gateway)
  const job = gateway.broker.jobOf(await submitted(gateway, { file_id: fileId }))
  const source = job.source as { url: string }
  const input = await gateway.call('GET', source.url, { headers: PROXIED })
  assert.ok(input.body.length > 0)
})
