/** A refusal before the end of a body reaches a client that is still sending. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createClient } from '../../clients/typescript/node.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'

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
