import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import test from 'node:test'
import { request } from '../../../shared/http-request.ts'

test('a server that closes while nobody reads its answer does not end the process', { timeout: 10_000 }, async (t) => {
  const body = Buffer.alloc(2 ** 20)
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2000000\r\n\r\n')
      socket.end(body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const [answer] = await Promise.all([
    request(`http://127.0.0.1:${port}/`),
    once(server, 'connection').then(([socket]) => once(socket as NodeJS.EventEmitter, 'close')),
  ])
  await new Promise((resolve) => setImmediate(resolve))
  await assert.rejects(answer.body.arrayBuffer())
})
