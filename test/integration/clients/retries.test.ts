/** The TypeScript client with a service that refuses temporarily, hangs or breaks connections. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import {
  ApiError,
  createClient,
  UnreachableError,
  type ClientOptions,
} from '../../../clients/typescript/node.ts'
import { temporaryFolder } from '../../support/basics/temporary-folder.ts'
import { serve } from '../../support/http/serve.ts'

const NOW = { 'retry-after': '0' }
const refuses =
  (status: number, headers: Record<string, string> = NOW, code = 'BUSY'): RequestListener =>
  (request, reply) =>
    void request
      .resume()
      .on('end', () =>
        reply.writeHead(status, headers).end(`{"error":{"code":"${code}","message":"No."}}`),
      )
const answers: RequestListener = (request, reply) =>
  void request.resume().on('end', () => reply.end('{"data":[]}'))
const hangs: RequestListener = (request) => void request.resume()
const hangsUp: RequestListener = (_, reply) => void reply.destroy()

const clientOf = (url: string, options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: url, apiKey: 'key', ...options })

async function mediaFile(t: TestContext, bytes: number) {
  const folder = temporaryFolder(t)
  const path = join(folder, 'a.wav')
  await writeFile(path, Buffer.alloc(bytes, 7))
  return { folder, path }
}

test('calls are retried while the service refuses for now, or hangs up', async (t) => {
  const { url, requests } = await serve(t, refuses(429), refuses(503), hangsUp, answers)
  assert.deepEqual(await clientOf(url).models(), { data: [] })
  assert.equal(requests(), 4)
})

test('retries end with the last refusal', async (t) => {
  for (const [retries, calls] of [
    [undefined, 4],
    [1, 2],
    [0, 1],
  ] as const) {
    const { url, requests } = await serve(t, refuses(503))
    const client = clientOf(url, retries === undefined ? {} : { retries })
    await assert.rejects(client.account(), { name: 'ApiError', code: 'BUSY', status: 503 })
    assert.equal(requests(), calls)
  }
})

test('a retry waits as long as Retry-After says, and not for more than a minute', async (t) => {
  const times: number[] = []
  const timed =
    (answer: RequestListener): RequestListener =>
    (...call) => {
      times.push(performance.now())
      answer(...call)
    }
  const asked = await serve(t, timed(refuses(429, { 'retry-after': '1' })), timed(answers))
  await clientOf(asked.url).models()
  assert.ok(times[1]! - times[0]! >= 990, `${times[1]! - times[0]!} ms`)
  const long = await serve(t, refuses(429, { 'retry-after': '61' }))
  await assert.rejects(clientOf(long.url).models(), { status: 429, retryAfterSeconds: 61 })
  assert.equal(long.requests(), 1)
})

test('refusals that a repeated call would not change are not retried', async (t) => {
  for (const refusal of [refuses(400), refuses(409), refuses(502, NOW, 'MEDIA_FETCH_FAILED')]) {
    const { url, requests } = await serve(t, refusal)
    await assert.rejects(clientOf(url).status('req_1'), ApiError)
    assert.equal(requests(), 1)
  }
})

test('an unanswered call ends in time, with an error that names what did not respond', async (t) => {
  const { url, requests } = await serve(t, hangs)
  const client = clientOf(url, { timeoutSeconds: 1, retries: 1 })
  const message = `${url} did not respond for 1 s.`
  await assert.rejects(client.models(), { name: 'UnreachableError', message })
  assert.equal(requests(), 2)
  const half = await serve(t, (_, reply) => void reply.write('{"data":'))
  const cut = clientOf(half.url, { timeoutSeconds: 0.1, retries: 0 })
  await assert.rejects(cut.models(), UnreachableError)
})

test('the signal ends the pause before a retry', async (t) => {
  const controller = new AbortController()
  const { url } = await serve(t, (request, reply) => {
    refuses(503, { 'retry-after': '60' })(request, reply)
    reply.once('close', () => controller.abort())
  })
  const { signal } = controller
  await assert.rejects(clientOf(url, { signal }).models(), { name: 'AbortError' })
})

test('the retries of a submit have one key, and each submit its own', async (t) => {
  const keys: unknown[] = []
  const noted =
    (answer: RequestListener): RequestListener =>
    (request, reply) => {
      keys.push(request.headers['idempotency-key'])
      answer(request, reply)
    }
  const { url } = await serve(t, noted(hangsUp), noted(refuses(503)), noted(answers))
  const client = clientOf(url)
  const submission = { input: { prompt: 'a', file_id: 'file_1' } }
  await client.submit(submission)
  await client.submit(submission)
  await client.submit(submission, { idempotencyKey: 'mine' })
  const [one, again, last, other, chosen] = keys
  assert.match(String(one), /^[0-9a-f]{32}$/)
  assert.deepEqual([again, last, chosen], [one, one, 'mine'])
  assert.notEqual(other, one)
})

test('a webhook test may have been posted, so it is only retried after a refusal', async (t) => {
  const receiver = { webhookUrl: 'https://hooks.example/in' }
  const { url, requests } = await serve(t, refuses(429), refuses(503))
  await assert.rejects(clientOf(url).testWebhook(receiver), { status: 503 })
  assert.equal(requests(), 2)
})

/** Starts a service that creates files; `puts` answer their uploads, one after the other. */
async function startUploads(t: Parameters<typeof serve>[0], ...puts: RequestListener[]) {
  const place = await serve(t, ...puts)
  const file = { file_id: 'file_1', upload_url: `${place.url}/put`, upload_method: 'PUT' }
  const service = await serve(
    t,
    (request, reply) =>
      void request.resume().on('end', () => reply.end(JSON.stringify({ ...file, headers: {} }))),
  )
  return { url: service.url, puts: place.requests }
}

const BYTES = 1_000_000
const CREATE = {
  file_name: 'a.wav',
  content_type: 'audio/wav',
  file_size: BYTES,
  purpose: 'audio.separate.input',
} as const

test('an upload is retried with all its bytes, and its progress never falls', async (t) => {
  const { path } = await mediaFile(t, BYTES)
  const bytes = new Blob([Buffer.alloc(BYTES, 7)])
  for (const send of ['upload', 'uploadBlob'] as const) {
    let arrived = Buffer.alloc(0)
    const takes: RequestListener = (request, reply) =>
      void buffer(request).then((body) => {
        arrived = body
        reply.end()
      })
    const { url, puts } = await startUploads(t, refuses(503), hangsUp, takes)
    const parts: number[] = []
    const client = clientOf(url)
    const onProgress = (part: number) => parts.push(part)
    if (send === 'upload') await client.upload(path, 'audio/wav', onProgress)
    else await client.uploadBlob({ name: 'a.wav', contentType: 'audio/wav', bytes }, onProgress)
    assert.equal(puts(), 3)
    assert.ok(arrived.equals(Buffer.alloc(BYTES, 7)), `${send}: ${arrived.length} bytes`)
    assert.deepEqual(
      parts,
      [...new Set(parts)].sort((a, b) => a - b),
    )
    assert.equal(parts.at(-1), 1)
  }
})

test('an upload whose response was lost counts as arrived', async (t) => {
  const { path } = await mediaFile(t, BYTES)
  const alreadyUploaded = refuses(409, {}, 'FILE_ALREADY_UPLOADED')
  const lost: RequestListener = (request, reply) =>
    void request.resume().on('end', () => reply.destroy())
  const { url } = await startUploads(t, lost, alreadyUploaded)
  assert.equal(await clientOf(url).upload(path, 'audio/wav'), 'file_1')
  const before = await startUploads(t, alreadyUploaded)
  const refused = clientOf(before.url).upload(path, 'audio/wav')
  await assert.rejects(refused, { code: 'FILE_ALREADY_UPLOADED' })
})

test('a delete whose response was lost counts as done', async (t) => {
  const notFound = refuses(404, {}, 'NOT_FOUND')
  const { url, requests } = await serve(t, hangsUp, notFound)
  await clientOf(url).delete('req_1')
  assert.equal(requests(), 2)
  const before = await serve(t, notFound)
  await assert.rejects(clientOf(before.url).deleteFile('file_1'), { code: 'NOT_FOUND' })
})

test('an upload that stalls ends in time', async (t) => {
  const stalls: RequestListener = (request) => void request.pause()
  const { url, puts } = await startUploads(t, stalls)
  const client = clientOf(url, { timeoutSeconds: 0.2, retries: 1 })
  const bytes = new Blob([Buffer.alloc(64 * 2 ** 20)]) // more than the buffers at both ends hold
  const upload = client.uploadBlob({ name: 'a.wav', contentType: 'audio/wav', bytes })
  await assert.rejects(upload, /UnreachableError: .* did not respond for 0.2 s/)
  assert.equal(puts(), 2)
})

test('an iterable is sent once, a function again', async (t) => {
  const once = async function* () {
    yield Buffer.alloc(BYTES)
  }
  for (const [bytes, calls] of [
    [once(), 1],
    [once, 2],
  ] as const) {
    const { url, puts } = await startUploads(t, refuses(503), answers)
    const client = clientOf(url)
    const upload = client.send(await client.createFile(CREATE), bytes)
    if (calls === 1) await assert.rejects(upload, { status: 503 })
    else await upload
    assert.equal(puts(), calls)
  }
})

test('a refused download is retried, a stalled one ends', async (t) => {
  const { folder, path } = await mediaFile(t, 1)
  const saved = join(folder, 'saved.wav')
  const busy = await serve(t, refuses(503), answers)
  await clientOf(busy.url).download(busy.url, saved)
  assert.equal(busy.requests(), 2)
  const stalls = await serve(t, (_, reply) => void reply.writeHead(200).write('begun'))
  const client = clientOf(stalls.url, { timeoutSeconds: 0.1, retries: 1 })
  await assert.rejects(client.download(stalls.url, join(folder, 'half.wav')), UnreachableError)
  assert.deepEqual(
    (await readdir(folder)).sort(),
    [path, saved].map((one) => one.slice(folder.length + 1)),
  )
})

/** Serves media from the requested offset; the first `breaks` responses break off in the middle. */
function media(bytes: Buffer, breaks: number, etags = ['"a"']): [RequestListener, string[]] {
  const ranges: string[] = []
  const listener: RequestListener = ({ headers: { range = '' } }, reply) => {
    const turn = ranges.push(range) - 1
    const etag = etags[Math.min(turn, etags.length - 1)]!
    const start = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0)
    const rest = bytes.subarray(start)
    const end = `${bytes.length - 1}/${bytes.length}`
    const part = start > 0 && { 'content-range': `bytes ${start}-${end}` }
    reply.writeHead(part ? 206 : 200, { etag, 'content-length': rest.length, ...part })
    if (turn >= breaks) return void reply.end(rest)
    reply.write(rest.subarray(0, Math.ceil(rest.length / 2)), () => reply.socket!.end())
  }
  return [listener, ranges]
}

test('a download that breaks off resumes where it ended', async (t) => {
  const { folder } = await mediaFile(t, 1)
  const saved = join(folder, 'saved.wav')
  const bytes = randomBytes(1_000_000)
  const [listener, ranges] = media(bytes, 3)
  const { url } = await serve(t, listener)
  await clientOf(url, { retries: 1 }).download(url, saved) // each break comes after some progress
  assert.deepEqual(await readFile(saved), bytes)
  const starts = ranges.map((range) => Number(/\d+/.exec(range)?.[0] ?? 0))
  assert.equal(starts.length, 4)
  assert.ok(
    starts.every((start, i) => i === 0 || start > starts[i - 1]!),
    `${starts}`,
  )
})

test('a download of media that changed meanwhile starts over', async (t) => {
  const { folder } = await mediaFile(t, 1)
  const saved = join(folder, 'saved.wav')
  const bytes = randomBytes(1_000_000)
  const [listener, ranges] = media(bytes, 1, ['"a"', '"b"'])
  const { url } = await serve(t, listener)
  await clientOf(url).download(url, saved)
  assert.deepEqual(await readFile(saved), bytes)
  assert.deepEqual([ranges.length, ranges[2]], [3, ''], 'the part of other media is not taken')
})

test('a web page in place of JSON is reported as such', async (t) => {
  const { url, requests } = await serve(t, (_, reply) => void reply.end('<html>Welcome</html>'))
  await assert.rejects(clientOf(url).models(), {
    name: 'ApiError',
    code: 'HTTP_200',
    message: 'The response to GET /v1/models is not JSON; is baseUrl right?',
  })
  assert.equal(requests(), 1)
})

test('many concurrent calls on one client cause no warning', async (t) => {
  const warned: string[] = []
  const note = ({ name }: Error) => void warned.push(name)
  process.on('warning', note)
  t.after(() => process.off('warning', note))
  const { url } = await serve(t, answers)
  const client = clientOf(url)
  await Promise.all(Array.from({ length: 20 }, () => client.account()))
  await new Promise((resolve) => setImmediate(resolve)) // warnings are emitted in a later turn
  assert.deepEqual(warned, [])
})
