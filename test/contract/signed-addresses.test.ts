/** Who can use the signed addresses of media: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { signPath } from '../../gateway/media-store/signed-url.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import { COPY_NAME, FOLDER_HEADER } from '../../shared/hand-over.ts'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { FILE_BYTES, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const AUDIENCES = ['client', 'engine'] as const

test('7 each media endpoint refuses addresses that were signed for another use', async (t) => {
  const gateway = await startGateway(t)
  const created = (await gateway.createFile()).json()
  const fileId = await gateway.uploadFile()
  const waiting = await gateway.submitted()
  const finished = await gateway.completed()
  const { data } = (await gateway.getResult(finished)).json()
  const outputPath = new URL(data.target.url).pathname
  const input = `/media/inputs/${created.file_id}`
  const output = `/media/outputs/${waiting}/target`
  const endpoints = [
    { method: 'PUT', path: input, size: FILE_BYTES.length, takes: ['client'] },
    { method: 'GET', path: `/media/inputs/${fileId}`, takes: ['engine'] },
    { method: 'PUT', path: output, takes: ['engine'] },
    { method: 'POST', path: `/media/outputs/${waiting}`, takes: ['engine'] },
    { method: 'GET', path: outputPath, takes: ['client', 'engine'] },
  ] as const
  for (const { method, path, takes, ...size } of endpoints) {
    for (const audience of AUDIENCES) {
      const signed = method === 'POST' ? 'PUT' : method
      const expiresAt = gateway.clock.now() + HOUR_MS
      const claims = { method: signed, path, expiresAt, audience, ...size }
      const url = signPath(gateway.signingKeys[0], claims)
      const bytes = method === 'PUT' ? { body: FILE_BYTES } : {}
      const reply = await gateway.call(method, url, { key: null, ...bytes })
      const name = `${method} ${path} by ${audience}: ${reply.body}`
      if ((takes as readonly string[]).includes(audience))
        assert.notEqual(reply.statusCode, 403, name)
      else assertError(reply, 'PERMISSION_DENIED')
    }
  }
  gateway.clock.advance(HOUR_MS + 1)
  assertError(await gateway.call('PUT', created.upload_url, { body: FILE_BYTES }), 'FILE_EXPIRED')
})

test("7 a client's address can't hand anything over to an engine's folder", async (t) => {
  const engineFolder = temporaryFolder(t)
  const folder = 'job-1-aB9'
  await mkdir(join(engineFolder, folder))
  const gateway = await startGateway(t, { engineFolder })
  const finished = await gateway.completed()
  const { data } = (await gateway.getResult(finished)).json()
  const headers = { [FOLDER_HEADER]: folder }
  const download = await gateway.call('GET', data.target.url, { key: null, headers })
  assert.equal(download.body, 'target')
  assert.deepEqual(await readdir(join(engineFolder, folder)), [])
  const next = await gateway.submitted({ request_id: finished, output: 'target' })
  const { source } = gateway.broker.jobOf(next)
  assert.equal((await gateway.call('GET', source.url, { key: null, headers })).statusCode, 204)
  assert.deepEqual(await readdir(join(engineFolder, folder)), [COPY_NAME])
})

const PREFIX = '/winnow-media/'
const CONFIG = { trustedProxies: ['127.0.0.1/32'], mediaAccelPath: PREFIX }
const PROXIED = { 'x-forwarded-for': '203.0.113.5' }

/** Completes a request and returns the address of its target. */
async function targetUrl(gateway: Gateway): Promise<string> {
  const requestId = await gateway.completed()
  return (await gateway.getResult(requestId)).json().data.target.url
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
  const { source } = gateway.broker.jobOf(await gateway.submitted())
  const input = await gateway.call('GET', source.url, { headers: PROXIED })
  assert.ok(input.body.length > 0)
})
