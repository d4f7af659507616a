/** A real nginx with ops/nginx.conf sends downloads itself; everything else passes through it. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { request, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test, { after, before } from 'node:test'
import type { IncomingMessage } from 'node:http'
import { examplePath } from '../support/media/examples.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { createScope } from '../support/processes/scope.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { startNginx } from '../support/machine/start-nginx.ts'
import { TLS_FILES } from '../support/http/tls-files.ts'

const SOURCE = examplePath('speech-over-piano.wav')
const SETTINGS = { TRUSTED_PROXIES: '127.0.0.1/32', MEDIA_ACCEL_PATH: '/winnow-media/' }

const scope = createScope()
after(() => scope.end())
let winnow: Winnow
let url: string
let certificate: Buffer
before(async () => {
  const [https] = await freePorts(1)
  url = `https://localhost:${https}`
  certificate = await readFile(TLS_FILES.certificate)
  winnow = await startWinnow(scope, { env: { ...SETTINGS, PUBLIC_URL: url } })
  await startNginx(scope, {
    ports: { https: https!, gateway: Number(new URL(winnow.url).port) },
    mediaFolder: join(winnow.folder, 'media'),
  })
})

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

async function ask(address: string, options: RequestOptions = {}, sent?: Buffer): Promise<Reply> {
  const asking = request(address, { ca: certificate, ...options })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asking.once('response', resolve).once('error', reject)
  })
  asking.end(sent)
  const reply = await answered
  return { status: reply.statusCode!, headers: reply.headers, body: await buffer(reply) }
}

test('a file is uploaded through nginx, and nginx itself sends the outputs', async () => {
  const form = new FormData()
  form.set('prompt', 'speech')
  form.set('file', new Blob([await readFile(SOURCE)], { type: 'audio/wav' }), 'a.wav')
  const sent = new Response(form)
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': sent.headers.get('content-type')!,
    prefer: 'wait=60',
  }
  const body = Buffer.from(await sent.arrayBuffer())
  const response = await ask(`${url}/v1/audio/separate`, { method: 'POST', headers }, body)
  assert.equal(response.status, 200, response.body.toString())
  const { target } = JSON.parse(response.body.toString()).data
  assert.ok(target.url.startsWith(url))

  const whole = await ask(target.url)
  assert.equal(whole.status, 200)
  const direct = await fetch(target.url.replace(url, winnow.url))
  assert.deepEqual(whole.body, Buffer.from(await direct.arrayBuffer()))
  assert.match(String(whole.headers.server), /^nginx/)
  assert.match(whole.headers.etag ?? '', /^"[0-9a-f]+-[0-9a-f]+"$/, "nginx's own")
  assert.equal(whole.headers['x-accel-redirect'], undefined)
  for (const name of ['content-type', 'content-disposition', 'x-content-type-options']) {
    assert.equal(whole.headers[name], direct.headers.get(name), name)
  }

  const part = await ask(target.url, { headers: { range: 'bytes=100-199' } })
  assert.equal(part.status, 206)
  assert.deepEqual(part.body, whole.body.subarray(100, 200))
})

test('nobody gets media from nginx without a signed address', async () => {
  const { pathname } = new URL((await completedTarget()).url)
  const key = pathname.replace('/media/', '')
  assert.equal((await ask(`${url}/winnow-media/${key}`)).status, 404)
  const unsigned = await ask(`${url}${pathname}`)
  assert.equal(unsigned.status, 403)
  assert.equal(JSON.parse(unsigned.body.toString()).error.code, 'PERMISSION_DENIED')
})

test('a status stream passes through nginx', async () => {
  const { request_id: requestId } = await completedRequest()
  const headers = { authorization: `Bearer ${API_KEY}` }
  const stream = await ask(`${url}/v1/queue/requests/${requestId}/status/stream`, { headers })
  assert.match(stream.body.toString(), /"status":"COMPLETED"/)
})

async function completedRequest() {
  const { data: requests } = await winnow.client.list()
  return requests[0]!
}

async function completedTarget() {
  const { data } = await winnow.client.result((await completedRequest()).request_id)
  return data.target
}
