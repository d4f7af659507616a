import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, RequestListener } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  UploadUnavailableError,
  uploadOutput,
  UploadRefusedError,
} from '../../../../engine/media/write/upload.ts'
import { HandOver } from '../../../../engine/media/write/hand-over.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { serve } from '../../../support/http/serve.ts'

const BYTES = Buffer.alloc(5_000_000, 'winnow')
const QUICK = { retryDelaysMs: [0, 0], silenceMsMax: 30_000 }

const folder = temporaryFolder({ after })
const path = join(folder, 'output.wav')
before(() => writeFile(path, BYTES))

/** Reads the whole body, then answers. */
const readAll =
  (into: Buffer[] = []): RequestListener =>
  async (request, response) => {
    for await (const piece of request) into.push(piece)
    response.end()
  }
/** Answers before reading anything. */
const answerEarly =
  (code: number): RequestListener =>
  (_, response) =>
    void response.writeHead(code).end('no')
const hangUp: RequestListener = (request) =>
  void request.once('data', () => request.socket.destroy())

const COMMON = { attemptId: 'attempt-1', signal: new AbortController().signal, retryPolicy: QUICK }

const upload = (url: string, options: object = {}): Promise<string | undefined> =>
  uploadOutput({ url, path, contentType: 'audio/wav', ...COMMON, ...options })

/** Uploads to a gateway that may take the file itself. */
function uploadHere(url: string, gateway = new HandOver({ url, ...COMMON }), part = 'target') {
  return upload(url, { handOver: () => gateway.give(part, `job-1-a/${part}`) })
}

describe('an upload', () => {
  test('sends every byte, with its length and type', async (t) => {
    const pieces: Buffer[] = []
    let headers: IncomingMessage['headers'] = {}
    const { url } = await serve(t, (request, response) => {
      assert.equal(request.method, 'PUT')
      headers = request.headers
      readAll(pieces)(request, response)
    })
    await upload(url)
    assert.deepEqual(Buffer.concat(pieces), BYTES)
    assert.equal(headers['content-length'], String(BYTES.length))
    assert.equal(headers['content-type'], 'audio/wav')
    assert.equal(headers['transfer-encoding'], undefined)
  })

  for (const [how, send] of [
    ['sent', upload],
    ['handed over', uploadHere],
  ] as const) {
    test(`names its attempt, and returns the place that the gateway names (${how})`, async (t) => {
      const { url } = await serve(t, (request, response) => {
        const { 'winnow-attempt': attempt = '' } = request.headers
        response.setHeader('winnow-place', attempt)
        readAll()(request, response)
      })
      assert.equal(await send(url), 'attempt-1')
    })
  }

  test("has no place if the gateway names none, or one that can't be part of a key", async (t) => {
    for (const place of [[], ['winnow-place', '../other']]) {
      const { url } = await serve(t, (request, response) => {
        if (place[0]) response.setHeader(place[0], place[1]!)
        readAll()(request, response)
      })
      assert.equal(await upload(url), undefined)
    }
  })

  test('of an empty file works', async (t) => {
    const empty = join(folder, 'empty')
    await writeFile(empty, '')
    const { url, requests } = await serve(t, readAll())
    await upload(url, { path: empty })
    assert.equal(requests(), 1)
  })

  test('of a file that the gateway takes itself sends no bytes', async (t) => {
    const calls: unknown[] = []
    const { url } = await serve(t, (request, response) => {
      calls.push([
        request.method,
        request.headers['winnow-files'],
        request.headers['content-length'],
      ])
      response.writeHead(204).end()
    })
    await uploadHere(url)
    assert.deepEqual(calls, [['POST', 'target=job-1-a/target', '0']])
  })

  test('of files that the gateway takes itself is one call, repeated after 503', async (t) => {
    const calls: (string | string[] | undefined)[] = []
    const note = (code: number): RequestListener => {
      const answer = answerEarly(code)
      return (request, response) => {
        calls.push(request.headers['winnow-files'])
        answer(request, response)
      }
    }
    const { url } = await serve(t, note(503), note(204))
    const gateway = new HandOver({ url, ...COMMON })
    await Promise.all(['target', 'residual'].map((part) => uploadHere(url, gateway, part)))
    const [first, ...again] = calls
    assert.equal(first, 'target=job-1-a/target,residual=job-1-a/residual')
    assert.deepEqual(again.join().split(',').sort(), String(first).split(',').sort())
  })

  test("of a file that the gateway can't take itself sends its bytes", async (t) => {
    const pieces: Buffer[] = []
    const methods: unknown[] = []
    const { url } = await serve(t, (request, response) => {
      methods.push(request.method)
      const answer = request.method === 'POST' ? answerEarly(404) : readAll(pieces)
      answer(request, response)
    })
    await uploadHere(url)
    assert.deepEqual(methods, ['POST', 'PUT'])
    assert.deepEqual(Buffer.concat(pieces), BYTES)
  })

  test('of a file that the gateway would take itself fails and is retried like any other', async (t) => {
    const refused = await serve(t, answerEarly(409))
    await assert.rejects(uploadHere(refused.url), UploadRefusedError)
    assert.equal(refused.requests(), 1)
    const away = await serve(t, answerEarly(503))
    const uploading = uploadHere(away.url)
    await assert.rejects(uploading, UploadUnavailableError)
    assert.equal(away.requests(), 3)
  })

  const troubles = { '503': answerEarly(503), 'a broken connection': hangUp }
  for (const [name, trouble] of Object.entries(troubles)) {
    test(`is repeated completely after ${name}`, async (t) => {
      const pieces: Buffer[] = []
      const { url, requests } = await serve(t, trouble, trouble, readAll(pieces))
      await upload(url)
      assert.equal(requests(), 3)
      assert.deepEqual(Buffer.concat(pieces), BYTES)
    })

    test(`ends as unavailable after ${name} each time`, async (t) => {
      const { url, requests } = await serve(t, trouble)
      await assert.rejects(upload(url), UploadUnavailableError)
      assert.equal(requests(), 3)
    })
  }

  test('is refused after 409, early or late', async (t) => {
    const late: RequestListener = async (request, response) => {
      for await (const _ of request);
      response.writeHead(409).end()
    }
    for (const answer of [answerEarly(409), late]) {
      const { url, requests } = await serve(t, answer)
      await assert.rejects(upload(url), UploadRefusedError)
      assert.equal(requests(), 1)
    }
  })

  for (const code of [400, 403, 404, 413]) {
    test(`fails for good after ${code}`, async (t) => {
      const { url, requests } = await serve(t, answerEarly(code))
      await assert.rejects(upload(url), new RegExp(`returned ${code}`))
      assert.equal(requests(), 1)
    })
  }

  test('that nobody reads ends as unavailable', async (t) => {
    const { url } = await serve(t, (request) => void request.pause())
    const retryPolicy = { retryDelaysMs: [], silenceMsMax: 50 }
    await assert.rejects(upload(url, { retryPolicy }), UploadUnavailableError)
  })

  test('is given up at once when the job is stopped', async (t) => {
    const stop = new AbortController()
    const { url, requests } = await serve(t, () => stop.abort(new Error('canceled')))
    await assert.rejects(upload(url, { signal: stop.signal }), /canceled/)
    assert.equal(requests(), 1)
  })

  test('of a missing file is an internal error', async (t) => {
    const { url, requests } = await serve(t, readAll())
    await assert.rejects(upload(url, { path: join(folder, 'absent') }), { code: 'ENOENT' })
    assert.equal(requests(), 0)
  })
})
