/** Clients that send only half of something, over real sockets. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createClient } from '../../clients/typescript/node.ts'
import { ADMIN_TOKEN } from '../support/gateway/admin.ts'
import {
  API,
  type Gateway,
  type GatewayOptions,
  startGateway,
} from '../support/gateway/start-gateway.ts'

const SOON = { bodySecondsMax: 0.2 }

/** Sends `text` and nothing more; returns everything received until the connection ends. */
async function sendHalf(address: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(address).port), '127.0.0.1').setEncoding('utf8')
  socket.write(text)
  return (await socket.toArray()).join('')
}

async function listening(t: TestContext, options: GatewayOptions) {
  const gateway = await startGateway(t, options)
  return { gateway, address: await gateway.listen() }
}

const head = (gateway: Gateway, line: string, more = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n` +
  `Content-Type: application/json\r\n${more}\r\n`

test('8 an incomplete JSON body is refused in time', async (t) => {
  const config = { ...SOON, adminToken: ADMIN_TOKEN }
  const { gateway, address } = await listening(t, { config })
  const asAdmin = { ...gateway, key: ADMIN_TOKEN }
  const admin = head(asAdmin, 'POST /admin/accounts', 'Content-Length: 99\r\n')
  for (const text of [
    head(gateway, `POST ${API}/audio/separate`, 'Content-Length: 99\r\n') + '{"input":',
    head(gateway, 'POST /v1/files', 'Transfer-Encoding: chunked\r\n') + '3\r\n{"f\r\n',
    head(gateway, 'POST /v1/files', 'Content-Length: 1\r\n'),
    `${admin}{`,
  ]) {
    const answer = await sendHalf(address, text)
    assert.match(answer, /^HTTP\/1\.1 400 [^]*"INVALID_REQUEST"[^]*incomplete after 0\.2 seconds/)
  }
})

test('8 half a body that is refused before it is read does no harm when it times out', async (t) => {
  const { gateway, address } = await listening(t, { config: SOON })
  const text = head(gateway, 'POST /v1/files', 'Content-Length: 99\r\n').replace(
    'application/json',
    'text/x',
  )
  assert.match(await sendHalf(address, text), /^HTTP\/1\.1 400 /)
  const [late] = await once(
    connect(Number(new URL(address).port), '127.0.0.1').end(
      `${head(gateway, 'POST /v1/files', 'Content-Length: 9\r\n')}{`,
    ),
    'data',
  )
  assert.match(String(late), /^HTTP\/1\.1 400 /) // by now the first body's time is over, too
})

test('8 an incomplete request head is refused in time', async (t) => {
  const { address } = await listening(t, { config: SOON })
  const answer = await sendHalf(address, 'GET /healthz HTTP/1.1\r\nHost:')
  assert.match(answer, /^HTTP\/1\.1 400 [^]*"INVALID_REQUEST"[^]*not whole in time/)
})

test('8 the server never waits forever, even if the body is not read', async (t) => {
  const { gateway, address } = await listening(t, { config: SOON })
  const { timeout, headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } =
    gateway.app.server
  assert.deepEqual(
    [timeout, headersTimeout, requestTimeout, keepAliveTimeout, maxConnections],
    [120_000, 200, 3_600_000, 72_000, 1_000],
  )
  for (const line of ['POST /nowhere', 'POST /healthz', 'PUT /v1/files']) {
    const answer = await sendHalf(address, head(gateway, line, 'Content-Length: 9\r\n'))
    assert.match(answer, /^HTTP\/1\.1 40[45] /)
  }
})

test('8 a status stream may last longer than a body may take', async (t) => {
  const { gateway, address } = await listening(t, { config: { bodySecondsMax: 0.5 } })
  const requestId = await gateway.submitted()
  const socket = connect(Number(new URL(address).port), '127.0.0.1').setEncoding('utf8')
  t.after(() => socket.destroy())
  socket.write(head(gateway, `GET ${API}/requests/${requestId}/status/stream?interval=1`))
  let text = ''
  while (text.split('event: status').length < 4) text += (await once(socket, 'data'))[0]
})

test('8 connections beyond the limit are closed at once', async (t) => {
  const { address } = await listening(t, { config: { connectionsMax: 1 } })
  const port = Number(new URL(address).port)
  const first = connect(port, '127.0.0.1')
  t.after(() => first.destroy())
  await once(first, 'connect')
  first.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(first, 'data')
  assert.deepEqual(await connect(port, '127.0.0.1').toArray(), [])
})

const MEBIBYTE = 2 ** 20
/** More than the buffers at both ends hold. */
const BYTES = 64 * MEBIBYTE
/** If the gateway did not wait, only about half of the refusals would arrive. */
const TRIES = 8

/** Makes an upload address that refuses, because its signature is wrong. */
async function startRefusing(t: TestContext) {
  const gateway = await startGateway(t)
  const address = await gateway.listen()
  const client = createClient({ baseUrl: address, apiKey: gateway.key })
  const file = await client.createFile({
    file_name: 'long.wav',
    content_type: 'audio/wav',
    file_size: BYTES,
    purpose: 'audio.separate.input',
  })
  const url = file.upload_url.replace('http://winnow.test', address).replace(/.$/, '')
  return { client, file: { ...file, upload_url: url }, url: new URL(url) }
}

async function* body(bytes: number) {
  for (let sent = 0; sent < bytes; sent += MEBIBYTE) yield Buffer.alloc(MEBIBYTE)
}

test('the TypeScript client learns why its upload was refused early', async (t) => {
  const { client, file } = await startRefusing(t)
  for (let i = 0; i < TRIES; i += 1) {
    await assert.rejects(client.send(file, body(BYTES)), { code: 'PERMISSION_DENIED' })
  }
})

test('so does a client that only reads the response after sending everything', async (t) => {
  const { url } = await startRefusing(t)
  for (let i = 0; i < TRIES; i += 1) {
    const socket = connect(Number(url.port), '127.0.0.1')
    await once(socket, 'connect')
    socket.pause()
    socket.write(
      `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Length: ${BYTES}\r\n\r\n`,
    )
    for await (const piece of body(BYTES)) {
      if (!socket.write(piece)) await once(socket, 'drain')
    }
    const [answer] = (await once(socket.setEncoding('utf8').resume(), 'data')) as [string]
    assert.match(answer, /^HTTP\/1.1 403 [^]*"code":"PERMISSION_DENIED"/)
    socket.destroy()
  }
})

test('a client that never ends is cut off', async (t) => {
  const { url } = await startRefusing(t)
  const socket = connect(Number(url.port), '127.0.0.1')
  socket.on('error', () => undefined) // gets reset
  socket.write(`PUT ${url.pathname} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`)
  const chunk = Buffer.concat([
    Buffer.from('100000\r\n'),
    Buffer.alloc(MEBIBYTE),
    Buffer.from('\r\n'),
  ])
  const closed = once(socket, 'close').catch(() => undefined)
  let sent = 0
  while (!socket.destroyed) {
    sent += 1
    const isFull = !socket.write(chunk)
    if (isFull) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
  }
  assert.ok(sent < 1_000, `${sent} MiB were taken`)
})
