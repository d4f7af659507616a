/** Clients that send only half of something, over real sockets. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import {
  API,
  startGateway,
  submitted,
  type Gateway,
  type GatewayOptions,
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
  const { gateway, address } = await listening(t, {
    config: { ...SOON, adminToken: 'a'.repeat(16) },
  })
  const admin = head(
    { ...gateway, key: 'a'.repeat(16) },
    'POST /admin/accounts',
    'Content-Length: 99\r\n',
  )
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
  const requestId = await submitted(gateway)
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
