import assert from 'node:assert/strict'
import fs from 'node:fs'
import { access, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  fetchPublicSource,
  fetchSource,
  SourceUnavailableError,
} from '../../../../engine/media/read/source.ts'
import { createPublicFetch } from '../../../../shared/http/public-fetch.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { serve } from '../../../support/http/serve.ts'

const folder = temporaryFolder({ after })

const BYTES = Buffer.alloc(300_000, 'winnow')
const QUICK = { retryDelaysMs: [0, 0], silenceMsMax: 30_000 }

const whole: RequestListener = (_, response) => response.end(BYTES)
const status =
  (code: number): RequestListener =>
  (_, response) =>
    response.writeHead(code).end('no')
const cutOff: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-length': BYTES.length })
  response.write(BYTES.subarray(0, 1000), () => response.destroy())
}
const hangUp: RequestListener = (request) => request.socket.destroy()

let files = 0
function fetchFrom(url: string, options: object = {}) {
  const path = join(folder, `file-${files++}`)
  const signal = new AbortController().signal
  const bytes = fetchSource({
    url,
    path,
    bytesMax: 1_000_000,
    signal,
    retryPolicy: QUICK,
    ...options,
  })
  return { path, bytes }
}

describe('a source', () => {
  test('is written to the file', async (t) => {
    const { url } = await serve(t, whole)
    const { path, bytes } = fetchFrom(url)
    assert.equal(await bytes, BYTES.length)
    assert.deepEqual(await readFile(path), BYTES)
  })

  test('that the gateway has copied to the folder is taken from there', async (t) => {
    const { url } = await serve(t, async (request, response) => {
      assert.equal(request.headers['winnow-folder'], 'job-1-a')
      await writeFile(join(folder, 'handed-over'), 'a copy')
      response.writeHead(204).end()
    })
    const { path, bytes } = fetchFrom(url, { folderName: 'job-1-a' })
    assert.equal(await bytes, 6)
    assert.equal(await readFile(path, 'utf8'), 'a copy')
    await assert.rejects(access(join(folder, 'handed-over')))
  })

  const troubles = {
    '503': status(503),
    '429': status(429),
    'an early end': cutOff,
    'no answer': hangUp,
  }
  for (const [name, trouble] of Object.entries(troubles)) {
    test(`is requested again after ${name}, and is complete`, async (t) => {
      const { url, requests } = await serve(t, trouble, trouble, whole)
      const { path, bytes } = fetchFrom(url)
      await bytes
      assert.equal(requests(), 3)
      assert.deepEqual(await readFile(path), BYTES)
    })

    test(`is unavailable after ${name} each time, and no file stays`, async (t) => {
      const { url, requests } = await serve(t, trouble)
      const { path, bytes } = fetchFrom(url)
      await assert.rejects(bytes, SourceUnavailableError)
      assert.equal(requests(), 3)
      await assert.rejects(access(path), { code: 'ENOENT' })
    })
  }

  for (const code of [400, 401, 403, 404, 410]) {
    test(`fails for good after ${code}`, async (t) => {
      const { url, requests } = await serve(t, status(code))
      await assert.rejects(fetchFrom(url).bytes, {
        code: 'MEDIA_FETCH_FAILED',
        message: new RegExp(`returned ${code}`),
      })
      assert.equal(requests(), 1)
    })
  }

  test('may be as large as allowed, and no larger', async (t) => {
    const { url, requests } = await serve(t, whole)
    assert.equal(await fetchFrom(url, { bytesMax: BYTES.length }).bytes, BYTES.length)
    const { path, bytes } = fetchFrom(url, { bytesMax: BYTES.length - 1 })
    await assert.rejects(bytes, { code: 'MEDIA_FETCH_FAILED', message: /larger than 299999 bytes/ })
    assert.equal(requests(), 2)
    await assert.rejects(access(path), { code: 'ENOENT' })
  })

  test('that is too large leaves no file, on a disk that is slow to create one', async (t) => {
    const { url } = await serve(t, whole)
    const { open } = fs
    t.mock.method(fs, 'open', (...words: Parameters<typeof open>) => setTimeout(open, 50, ...words))
    const { path, bytes } = fetchFrom(url, { bytesMax: BYTES.length - 1 })
    await assert.rejects(bytes, { code: 'MEDIA_FETCH_FAILED' })
    await sleep(100)
    await assert.rejects(access(path), { code: 'ENOENT' })
  })

  test('that falls silent is unavailable', async (t) => {
    const silent: RequestListener = () => undefined
    const stalled: RequestListener = (_, response) => void response.write(BYTES.subarray(0, 100))
    for (const answer of [silent, stalled]) {
      const { url } = await serve(t, answer)
      const retryPolicy = { retryDelaysMs: [0], silenceMsMax: 50 }
      await assert.rejects(fetchFrom(url, { retryPolicy }).bytes, SourceUnavailableError)
    }
  })

  test('is given up at once when the job is stopped', async (t) => {
    const stop = new AbortController()
    const { url, requests } = await serve(t, (_, response) => {
      response.write(BYTES.subarray(0, 100))
      stop.abort(new Error('canceled'))
    })
    const { path, bytes } = fetchFrom(url, { signal: stop.signal })
    await assert.rejects(bytes, /canceled/)
    assert.equal(requests(), 1)
    await assert.rejects(access(path), { code: 'ENOENT' })
  })

  test('is not waited for between attempts when the job is stopped', async (t) => {
    const stop = new AbortController()
    const { url } = await serve(t, (_, response) => {
      response.writeHead(503).end()
      setImmediate(() => stop.abort(new Error('canceled')))
    })
    const retryPolicy = { retryDelaysMs: [3_600_000], silenceMsMax: 30_000 }
    await assert.rejects(fetchFrom(url, { signal: stop.signal, retryPolicy }).bytes, /canceled/)
  })

  test("that can't be written is an internal error", async (t) => {
    const { url, requests } = await serve(t, whole)
    const error = fetchFrom(url, { path: join(folder, 'no/such/folder') }).bytes
    await assert.rejects(error, { code: 'ENOENT' })
    assert.equal(requests(), 1)
  })
})

test('a public source that drips is eventually given up, and no file stays', async (t) => {
  const { url } = await serve(t, (_, response) => {
    const timer = setInterval(() => response.write('1'), 10)
    response.on('close', () => clearInterval(timer))
  })
  const path = join(folder, 'dripping')
  const { signal } = new AbortController()
  const fetching = fetchPublicSource(createPublicFetch({ allowCidrs: ['127.0.0.0/8'] }), {
    url,
    path,
    bytesMax: 1_000_000,
    secondsMax: 0.2,
    signal,
    retryPolicy: QUICK,
  })
  await assert.rejects(fetching, {
    code: 'MEDIA_FETCH_FAILED',
    message: /longer than 0\.2 s to fetch/,
  })
  await assert.rejects(access(path), { code: 'ENOENT' })
})
