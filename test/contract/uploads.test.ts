/** Uploads and downloads at signed addresses: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'node:test'
import { ATTEMPT_HEADER } from '../../shared/output-places.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  ATTEMPT_ID,
  FILE_BYTES,
  type Gateway,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { onDisk } from '../support/gateway/stored.ts'

async function createFile(gateway: Gateway, fields: object = {}) {
  const reply = await gateway.createFile(fields)
  const { file_id: fileId, upload_url: url } = reply.json()
  return {
    url: String(url),
    put: (body: Buffer, headers: Record<string, string> = {}) =>
      gateway.call('PUT', url, { body, headers }),
    status: async () => (await gateway.call('GET', `/v1/files/${fileId}`)).json().status,
  }
}

const STAGE_LIMITS = { silentMsMax: 10_000, signal: new AbortController().signal }

/** Reads the text of every input that has its place. */
async function keptBytes(gateway: Gateway): Promise<string[]> {
  const inputs = (await onDisk(gateway)).filter((path) => path.startsWith('inputs/'))
  return Promise.all(inputs.map((path) => readFile(join(gateway.folder, 'media', path), 'utf8')))
}

test("7 an upload returns its hash, and can't be repeated", async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  const reply = await file.put(FILE_BYTES, { 'content-type': 'audio/mp4' })
  assert.equal(reply.statusCode, 200, reply.body)
  const sha256 = createHash('sha256').update(FILE_BYTES).digest('hex')
  assert.equal(reply.headers.etag, `"${sha256}"`)
  assertError(await file.put(Buffer.from('XXXXXXXX')), 'FILE_ALREADY_UPLOADED')
  assert.equal((await onDisk(gateway)).length, 1)
})

test('7 a chunked body is accepted if its length is right, and counted', async (t) => {
  const gateway = await startGateway(t)
  const address = await gateway.listen()
  const file = await createFile(gateway)
  const put = (...chunks: string[]) =>
    fetch(file.url.replace('http://winnow.test', address), {
      method: 'PUT',
      body: ReadableStream.from(chunks.map((chunk) => Buffer.from(chunk))),
      duplex: 'half',
    })
  assert.equal((await put('RIFF', '....', '!')).status, 413)
  assert.equal((await put('RIFF')).status, 400)
  assert.equal(await file.status(), 'pending')
  assert.equal((await put('RIFF', '....')).status, 200)
  assert.equal(await file.status(), 'uploaded')
})

/** Opens an upload over a socket of its own; it sends bytes on demand. */
async function openUpload(gateway: Gateway, file: { url: string }, header = '') {
  const { port } = new URL(await listenOnce(gateway))
  const { pathname, search } = new URL(file.url)
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  socket.write(
    `PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
      `${header}Content-Length: ${FILE_BYTES.length}\r\n\r\n`,
  )
  const answer = socket.toArray().then((pieces) => pieces.join(''))
  answer.catch(() => undefined) // rejects if the upload is broken off
  return { answer, send: (text: string) => socket.write(text), breakOff: () => socket.destroy() }
}

const addresses = new WeakMap<Gateway, Promise<string>>()
function listenOnce(gateway: Gateway): Promise<string> {
  const address = addresses.get(gateway) ?? gateway.listen()
  addresses.set(gateway, address)
  return address
}

/** Resolves once the bodies of `count` uploads have begun to arrive. */
function untilBegun({ disk: mediaStore }: Gateway, count: number): Promise<void> {
  const stage = mediaStore.stage.bind(mediaStore)
  let left = count
  return new Promise((resolve) => {
    mediaStore.stage = (body, limits) => {
      body.once('readable', () => {
        left -= 1
        if (left === 0) resolve()
      })
      return stage(body, limits)
    }
  })
}

test('7 a broken upload leaves nothing behind and can be repeated', async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  const { disk: mediaStore } = gateway
  const stage = mediaStore.stage.bind(mediaStore)
  const broken = new Promise<unknown>((resolve) => {
    mediaStore.stage = (body, limits) => {
      body.once('readable', () => upload.breakOff())
      const staged = stage(body, limits)
      staged.catch(resolve)
      return staged
    }
  })
  const upload = await openUpload(gateway, file)
  upload.send('RIFF')
  await broken
  mediaStore.stage = stage
  assert.deepEqual(await onDisk(gateway), [])
  assert.equal(await file.status(), 'pending')
  assert.equal((await file.put(FILE_BYTES)).statusCode, 200)
})

test('7 a newer upload to an address replaces the one in progress', async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  const oneBegun = untilBegun(gateway, 1)
  const hanging = await openUpload(gateway, file)
  hanging.send('ONE.')
  await oneBegun
  assert.equal((await file.put(FILE_BYTES)).statusCode, 200)
  assert.match(await hanging.answer, /^HTTP\/1\.1 400 [^]*taken the place of this one/)
  assert.deepEqual(await keptBytes(gateway), [FILE_BYTES.toString()])
  assert.equal((await onDisk(gateway)).length, 1)
})

test('7 however many uploads there are to one address, only one is on disk', async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  const { disk: mediaStore } = gateway
  const stage = mediaStore.stage.bind(mediaStore)
  let [open, openMax] = [0, 0]
  mediaStore.stage = async (body, limits) => {
    openMax = Math.max(openMax, (open += 1))
    return stage(body, limits).finally(() => {
      open -= 1
    })
  }
  const lastBegun = untilBegun(gateway, 30)
  const uploads = await Promise.all(Array.from({ length: 30 }, () => openUpload(gateway, file)))
  for (const upload of uploads) upload.send('RIFF')
  await lastBegun
  assert.equal(openMax, 1)
  for (const upload of uploads) upload.breakOff()
  assert.equal((await file.put(FILE_BYTES)).statusCode, 200)
  assert.equal((await onDisk(gateway)).length, 1)
})

test('7 of uploads that complete at the same moment one is kept and the others are refused', async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  const bodies = Array.from({ length: 8 }, (_, i) => `body-${i}..`.slice(0, FILE_BYTES.length))
  const replies = await Promise.all(bodies.map((body) => file.put(Buffer.from(body))))
  const winners = bodies.filter((_, i) => replies[i]?.statusCode === 200)
  assert.equal(winners.length, 1)
  for (const reply of replies.filter(({ statusCode }) => statusCode !== 200)) {
    assertError(reply, reply.statusCode === 409 ? 'FILE_ALREADY_UPLOADED' : 'INVALID_REQUEST')
  }
  assert.deepEqual(await keptBytes(gateway), winners)
})

test('7 an upload whose sender falls silent is cut off, with an error that says so', async (t) => {
  const gateway = await startGateway(t, { config: { bodySecondsMax: 0.2 } })
  const file = await createFile(gateway)
  const upload = await openUpload(gateway, file)
  upload.send('RIFF')
  assert.match(await upload.answer, /^HTTP\/1\.1 400 [^]*No data received for 0.2 seconds/)
  assert.deepEqual(await onDisk(gateway), [])
  assert.equal(await file.status(), 'pending')
  assert.equal((await file.put(FILE_BYTES)).statusCode, 200)
})

test('7 an output is written by one engine at a time; another has to retry', async (t) => {
  const gateway = await startGateway(t)
  const { upload_urls: urls } = gateway.broker.jobOf(await gateway.submitted())
  const url = urls.target!.replace(/^http:\/\/[^/]+/, 'http://winnow.test')
  const { disk: mediaStore } = gateway
  const stage = mediaStore.stage.bind(mediaStore)
  let brokenOff: Promise<unknown> = Promise.resolve()
  mediaStore.stage = (body, limits) => {
    const staged = stage(body, limits)
    brokenOff = staged.catch(() => undefined)
    return staged
  }
  const oneBegun = untilBegun(gateway, 1)
  const one = await openUpload(gateway, { url }, `${ATTEMPT_HEADER}: ${ATTEMPT_ID}\r\n`)
  one.send('RIFF')
  await oneBegun
  const refused = await gateway.putOutput(urls.target!, FILE_BYTES)
  assertError(refused, 'RATE_LIMITED')
  assert.equal(refused.headers['retry-after'], '1')
  one.breakOff()
  await brokenOff
  assert.equal((await gateway.putOutput(urls.target!, FILE_BYTES)).statusCode, 200)
})

test('7 an upload that would fill the disk is refused', async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  gateway.free.bytes = FILE_BYTES.length - 1
  const refused = await file.put(FILE_BYTES)
  assertError(refused, 'QUEUE_UNAVAILABLE')
  assert.match(refused.json().error.message, /no space/)
  assert.equal(refused.headers['retry-after'], '60')
  gateway.free.bytes = FILE_BYTES.length
  assert.equal((await file.put(FILE_BYTES)).statusCode, 200)
  assert.equal((await onDisk(gateway)).length, 1)
})

test('7 a disk that fills up during an upload ends it, and nothing of it stays', async (t) => {
  const gateway = await startGateway(t)
  async function* filling() {
    yield Buffer.alloc(10_000_000)
    gateway.free.bytes = -1
    yield Buffer.alloc(10_000_000)
    assert.fail('it is still read')
  }
  async function* full() {
    yield FILE_BYTES
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  for (const pieces of [filling, full]) {
    gateway.free.bytes = Infinity
    const body = Readable.from(pieces(), { highWaterMark: 1 })
    await assert.rejects(gateway.disk.stage(body, STAGE_LIMITS), { code: 'QUEUE_UNAVAILABLE' })
    assert.deepEqual(await onDisk(gateway), [])
  }
})

test("7 a file whose bytes can't be put in place stays pending, and can be sent again", async (t) => {
  const gateway = await startGateway(t)
  const file = await createFile(gateway)
  const { disk: mediaStore } = gateway
  const stage = mediaStore.stage.bind(mediaStore)
  mediaStore.stage = async (...args) => {
    const staged = await stage(...args)
    return {
      ...staged,
      place: async (key) => {
        await staged.place(key)
        throw new Error('the power went off before it was noted')
      },
    }
  }
  assertError(await file.put(Buffer.from('the old.')), 'INTERNAL')
  mediaStore.stage = stage
  assert.equal(await file.status(), 'pending')
  assert.equal((await file.put(FILE_BYTES)).statusCode, 200)
  assert.deepEqual(await keptBytes(gateway), [FILE_BYTES.toString()])
})

test('7 what a gateway was receiving when it died is removed when it restarts', async (t) => {
  const gateway = await startGateway(t)
  const staged = await gateway.disk.stage(Readable.from([FILE_BYTES]), STAGE_LIMITS)
  assert.equal((await onDisk(gateway)).length, 1)
  await gateway.openDisk()
  assert.deepEqual(await onDisk(gateway), [])
  await assert.rejects(staged.place('inputs/file_1'), { code: 'ENOENT' })
})

test('3 outputs can be downloaded whole or by range, or requested with HEAD', async (t) => {
  const gateway = await startGateway(t)
  const { data } = (await gateway.getResult(await gateway.completed())).json()
  const get = (headers: Record<string, string> = {}) =>
    gateway.call('GET', data.target.url, { headers })

  const whole = await get()
  assert.equal(whole.body, 'target')
  assert.equal(whole.headers['content-type'], 'audio/wav')
  assert.equal(whole.headers['content-disposition'], 'attachment; filename="concert.a-bell.wav"')
  assert.equal(whole.headers['x-content-type-options'], 'nosniff')
  assert.equal(whole.headers['accept-ranges'], 'bytes')

  const part = await get({ range: 'bytes=1-3' })
  assert.equal(part.statusCode, 206)
  assert.equal(part.body, 'arg')
  assert.equal(part.headers['content-range'], 'bytes 1-3/6')
  assert.equal((await get({ range: 'bytes=9-' })).statusCode, 416)
  assert.equal((await get({ 'if-none-match': String(whole.headers.etag) })).statusCode, 304)

  const head = await gateway.call('HEAD', data.target.url)
  assert.equal(head.statusCode, 200)
  assert.equal(head.headers['content-length'], '6')
  assert.equal(head.body, '')
  assertError(
    await gateway.call('GET', data.target.url.replace('target', 'residual')),
    'PERMISSION_DENIED',
  )
})
