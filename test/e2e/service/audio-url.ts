/** Media at an audio_url, from servers of every kind: engines fetch it, and a submit never does. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import test, { before, describe, type TestContext } from 'node:test'
import { examplePath } from '../../support/media/examples.ts'
import { readWav24 } from '../../support/media/wav.ts'
import { serve } from '../../support/http/serve.ts'
import { downloadResult, followToEnd } from '../../support/processes/start-winnow.ts'
import { winnow } from './winnow.ts'

let wav: Buffer
let base = ''
const callCounts = new Map<string, number>()

type Place = (
  request: Parameters<RequestListener>[0],
  reply: Parameters<RequestListener>[1],
  turn: number,
) => void

const media: Place = (_, reply) =>
  reply.writeHead(200, { 'content-type': 'audio/wav', 'content-length': wav.length }).end(wav)
const status =
  (code: number): Place =>
  (_, reply) =>
    reply.writeHead(code).end('no')
/** Answers each attempt with the next handler; repeats the last one. */
const oneAfterAnother =
  (...places: Place[]): Place =>
  (request, reply, turn) =>
    places[Math.min(turn, places.length - 1)]!(request, reply, turn)
const redirect =
  (location: string): Place =>
  (_, reply) =>
    reply.writeHead(302, { location }).end()
const cutOff: Place = (_, reply) => {
  reply.writeHead(200, { 'content-type': 'audio/wav', 'content-length': wav.length })
  reply.write(wav.subarray(0, 100_000), () => reply.destroy())
}
/** Answers like a script that declares a wrong type and encoding. */
const misdeclared: Place = (_, reply) =>
  reply
    .writeHead(200, {
      'content-type': 'text/plain; charset=utf-8',
      'content-encoding': 'utf-8',
      'content-disposition': `attachment; filename="concert.wav"; filename*=UTF-8''H%C3%B6rprobe.wav`,
    })
    .end(wav)
const places: Record<string, Place> = {
  '/concert%20hall.wav': media,
  '/download.php?id=3': misdeclared,
  '/missing.wav': status(404),
  '/busy.wav': oneAfterAnother(status(503), status(503), media),
  '/down.wav': status(500),
  '/inward.wav': redirect('http://10.0.0.1/secret.wav'),
  '/silent.wav': () => {},
  '/cut-once.wav': oneAfterAnother(cutOff, media),
  '/playlist.m3u8': (_, reply) =>
    reply
      .writeHead(200, { 'content-type': 'audio/x-unknown' })
      .end('#EXTM3U\n#EXTINF:9,\n/secret.wav\n'),
}

before(async (t) => {
  wav = await readFile(examplePath('siren-and-speech.wav'))
  const served = await serve(t as TestContext, (request, reply) => {
    const path = request.url ?? ''
    const turn = callCounts.get(path) ?? 0
    callCounts.set(path, turn + 1)
    const place = places[path] ?? status(404)
    place(request, reply, turn)
  })
  base = served.url
})

const submit = (path: string) =>
  winnow.client.submit({ input: { prompt: 'siren', audio_url: base + path } })

async function run(path: string) {
  const submitted = await submit(path)
  const last = (await followToEnd(winnow, submitted)).at(-1)
  return { submitted, last, requests: callCounts.get(path) }
}

describe('an audio_url', { concurrency: true }, () => {
  const separated = [
    ['/concert hall.wav', 'concert hall'], // with a space, as people write it
    ['/download.php?id=3', 'Hörprobe'],
  ] as const
  for (const [path, stem] of separated) {
    test(`${path} is fetched and separated`, async () => {
      const { submitted, last } = await run(path)
      assert.equal(last?.status, 'COMPLETED', JSON.stringify(last?.error))
      const { target, result } = await downloadResult(winnow, submitted)
      assert.equal(
        readWav24(target).planes[0]?.length,
        (wav.length - 44) / 2 / wav.readUInt16LE(22),
      )
      assert.equal(result.data.target.file_name, `${stem}.siren.wav`)
    })
  }

  const passing = [
    ['/busy.wav', 3],
    ['/cut-once.wav', 2],
  ] as const
  for (const [path, requests] of passing) {
    test(`${path} is retried until it is whole`, async () => {
      const { last, requests: made } = await run(path)
      assert.equal(last?.status, 'COMPLETED', JSON.stringify(last?.error))
      assert.equal(made, requests)
    })
  }

  const failing = [
    ['/missing.wav', 1, 'MEDIA_FETCH_FAILED', /returned 404; it must return media/],
    ['/down.wav', 4, 'MEDIA_FETCH_FAILED', /returned 500/],
    ['/inward.wav', 1, 'INVALID_AUDIO_URL', /public address|https/],
  ] as const
  for (const [path, requests, code, message] of failing) {
    test(`${path} is accepted, and fails as ${code} after ${requests} requests`, async () => {
      const { last, requests: made } = await run(path)
      assert.equal(last?.error?.code, code, JSON.stringify(last))
      assert.match(last?.error?.message ?? '', message)
      assert.equal(made, requests)
    })
  }

  test('is accepted at once although its server never answers, and can be canceled', async () => {
    const { request_id: requestId } = await submit('/silent.wav')
    await winnow.client.cancel(requestId)
  })

  test('or a webhookUrl within our network is refused at submit', async () => {
    for (const url of ['https://10.0.0.1/', 'https://169.254.169.254/', 'https://[::1]/']) {
      const input = { prompt: 'siren', audio_url: `${base}/silent.wav` }
      const refused = { code: 'INVALID_WEBHOOK_URL' }
      await assert.rejects(winnow.client.submit({ input, webhookUrl: url }), refused, url)
      const inward = winnow.client.submit({ input: { ...input, audio_url: url } })
      await assert.rejects(inward, { code: 'INVALID_AUDIO_URL' }, url)
    }
  })

  test('/playlist.m3u8 is not followed to the files that it names', async () => {
    const { last } = await run('/playlist.m3u8')
    assert.equal(last?.error?.code, 'INVALID_MEDIA', JSON.stringify(last))
    assert.match(last?.error?.message ?? '', /a playlist/)
    assert.equal(callCounts.get('/secret.wav'), undefined)
  })
})
