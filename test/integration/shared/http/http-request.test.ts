import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { request, type Waits } from '../../../../shared/http/http-request.ts'

const WAITS: Waits = { connectMsMax: 30_000, firstByteMsMax: 30_000, silenceMsMax: 30_000 }
const signal = new AbortController().signal
const options = { waits: WAITS, signal }

/** Answers every request with raw bytes; `closed` resolves once the first connection is closed. */
async function serveBytes(t: TestContext, answer: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  const closed = new Promise((resolve) => {
    server.once('connection', (socket) => socket.once('close', resolve))
  })
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    closed,
    sockets,
  }
}

const head = (...lines: string[]) =>
  ['HTTP/1.1 200 OK', 'Connection: close', ...lines, '', ''].join('\r\n')
const lengthOf = (bytes: number) => `Content-Length: ${bytes}`
const turn = () => new Promise(setImmediate)

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await turn()
}

describe('a body that is not read', { timeout: 60_000 }, () => {
  test('holds its sender back', async (t) => {
    const bytes = 64 * 2 ** 20
    const { url } = await serveBytes(t, (socket) =>
      socket.write(head(lengthOf(bytes)) + 'x'.repeat(bytes)),
    )
    const { body } = await request(url, options)
    const pieces = body[Symbol.asyncIterator]()
    let read = 0
    for (let round = 0; round < 4; round += 1) {
      await turns(200) // enough time to read much further ahead
      const ahead = body.socket.bytesRead - read
      assert.equal(ahead < 300_000, true, `${ahead} bytes ahead of the reader`)
      read += (await pieces.next()).value.length
    }
    assert.equal(body.socket.bytesRead > 0, true, 'the server was fast')
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next())
      read += piece.value.length
    assert.equal(read, bytes)
  })

  for (const bytes of [0, 1, 16_384, 65_536, 65_537, 200_000]) {
    for (const length of [[lengthOf(bytes)], []]) {
      const kind = length.length > 0 ? 'of a stated length' : 'that ends with the connection'
      test(`is complete later although its server is gone: ${bytes} bytes ${kind}`, async (t) => {
        const { url, closed } = await serveBytes(t, (socket) =>
          socket.write(head(...length) + 'x'.repeat(bytes), () => socket.destroy()),
        )
        const [{ body }] = await Promise.all([request(url, options), closed])
        await turns(10)
        assert.equal((await buffer(body)).length, bytes)
      })
    }
  }

  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    test(`is an error later if its server broke off by ${leave}`, async (t) => {
      const { url, closed } = await serveBytes(t, (socket) =>
        socket.write(head(lengthOf(2_000_000)) + 'x'.repeat(200_000), () => socket[leave]()),
      )
      const [{ body }] = await Promise.all([request(url, options), closed])
      await turns(10)
      await assert.rejects(buffer(body), { code: 'ECONNRESET' })
    })
  }

  test('does not count as silence of the other side', async (t) => {
    const bytes = 2_000_000
    const { url } = await serveBytes(t, (socket) =>
      socket.end(head(lengthOf(bytes)) + 'x'.repeat(bytes)),
    )
    const { body } = await request(url, options)
    while (!body.socket.isPaused()) await turn()
    body.socket.setTimeout(0)
    body.socket.emit('timeout')
    assert.equal(body.socket.timeout, WAITS.silenceMsMax, 'it is waited for again')
    assert.equal((await buffer(body)).length, bytes)
  })
})

describe('waiting ends', { timeout: 60_000 }, () => {
  const inTime = (waits: Partial<Waits>) => ({ signal, waits: { ...WAITS, ...waits } })
  const late = { code: 'ETIMEDOUT' }
  const drips = (socket: Socket) => {
    const timer = setInterval(() => socket.write('x'), 5)
    socket.on('close', () => clearInterval(timer))
  }

  test('for a TLS handshake that never begins', async (t) => {
    const { url } = await serveBytes(t, () => undefined)
    url.protocol = 'https:'
    await assert.rejects(request(url, inTime({ connectMsMax: 50 })), late)
  })

  test('for the head of a response, even if it arrives byte by byte', async (t) => {
    const mute = await serveBytes(t, () => undefined)
    await assert.rejects(request(mute.url, inTime({ firstByteMsMax: 50 })), late)
    const dripping = await serveBytes(t, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\na: ')
      drips(socket)
    })
    await assert.rejects(request(dripping.url, inTime({ firstByteMsMax: 50 })), late)
  })

  test('but none of these limits applies once the response has begun', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { url, sockets } = await serveBytes(t, (socket) => socket.write(head()))
    const { body } = await request(url, options)
    t.mock.timers.tick(86_400_000)
    sockets[0]?.end('late')
    assert.equal((await buffer(body)).toString(), 'late')
  })
})

test('a signal ends a request with its reason, before, during and after the head', async (t) => {
  const reason = new Error('enough')
  const before = { waits: WAITS, signal: AbortSignal.abort(reason) }
  await assert.rejects(request(new URL('http://127.0.0.1:1/'), before), reason)
  const waiting = new AbortController()
  const mute = await serveBytes(t, () => waiting.abort(reason))
  await assert.rejects(request(mute.url, { waits: WAITS, signal: waiting.signal }), reason)
  await mute.closed
  const reading = new AbortController()
  const stalled = await serveBytes(t, (socket) => socket.write(head(lengthOf(10)) + 'x'))
  const { body } = await request(stalled.url, { waits: WAITS, signal: reading.signal })
  setImmediate(() => reading.abort(reason))
  await assert.rejects(buffer(body), reason)
  await stalled.closed
})

test('a body that is not read ends its connection', async (t) => {
  const { url, closed } = await serveBytes(t, (socket) =>
    socket.write(head() + 'x'.repeat(1_000_000)),
  )
  const { body } = await request(url, options)
  body.destroy()
  await closed
})
