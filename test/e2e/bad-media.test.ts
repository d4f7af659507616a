/**
 * Media that is odd or none: each ends COMPLETED with right output or FAILED with the right code,
 * and the engine goes on.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after, before, type TestContext } from 'node:test'
import { makeMedia } from '../support/media/make-media.ts'
import { noise, sine, type Planes } from '../support/media/signals.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'
import { sumError } from '../support/media/examples.ts'
import {
  API_KEY,
  downloadResult,
  followToEnd,
  separateFile,
  startWinnow,
  type Winnow,
} from '../support/processes/start-winnow.ts'

let winnow: Winnow
before(async (t) => {
  winnow = await startWinnow(t as TestContext)
})

const write = async (name: string, bytes: Buffer | string): Promise<string> => {
  const path = join(winnow.folder, name)
  await writeFile(path, bytes)
  return path
}

const text = Buffer.from('All work and no play makes Jack a dull boy.\n'.repeat(500))
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk' +
    'YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

const notMedia: [name: string, bytes: Buffer | string][] = [
  ['text.wav', text],
  ['text.amr', text],
  ['page.mp3', '<!doctype html><html><body>Not found</body></html>'.repeat(50)],
  ['data.json', JSON.stringify({ not: 'media' })],
  ['random.ogg', randomBytes(100_000)],
  ['picture.mp4', png],
  ['list.m3u8', '#EXTM3U\n#EXTINF:10,\nhttp://127.0.0.1/secret.mp3\n'],
  ['list.ffconcat', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
  ['header-only.wav', wavBytes([new Float32Array(0)], 44_100)],
  ['cut-header.wav', wavBytes([sine(440, 1, 44_100)], 44_100).subarray(0, 20)],
  ['one-byte.flac', 'f'],
]

for (const [name, bytes] of notMedia) {
  test(`${name}, which is no media, fails as INVALID_MEDIA and says what would be right`, async () => {
    const { last, submitted } = await separateFile(winnow, await write(name, bytes), {
      prompt: 'x',
    })
    assert.equal(last.status, 'FAILED')
    assert.equal(last.error?.code, 'INVALID_MEDIA')
    assert.ok((last.error?.message.length ?? 0) > 30, last.error?.message)
    await assert.rejects(winnow.client.result(submitted), {
      code: 'REQUEST_FAILED',
      message: /INVALID_MEDIA/,
    })
  })
}

test('an empty file is refused before it is uploaded', async () => {
  const path = await write('empty.wav', '')
  await assert.rejects(separateFile(winnow, path, { prompt: 'x' }), {
    code: 'INVALID_PARAMETER',
    param: 'file_size',
  })
})

test('a video without sound fails as NO_AUDIO_STREAM', async () => {
  const path = join(winnow.folder, 'silent.mp4')
  await makeMedia(path, 'mp4', { video: { seconds: 1, encoder: 'mpeg4' } })
  const { last } = await separateFile(winnow, path, { prompt: 'x' }, 'video/mp4')
  assert.equal(last.error?.code, 'NO_AUDIO_STREAM')
})

test('media over the limit fails as MEDIA_TOO_LONG', async (t) => {
  const short = await startWinnow(t, { env: { MEDIA_SECONDS_MAX: '3' } })
  const path = join(short.folder, 'long.wav')
  await writeFile(path, wavBytes([sine(440, 4, 8_000)], 8_000))
  const fileId = await short.client.upload(path, 'audio/wav')
  const submit = () => short.client.submit({ input: { prompt: 'x', file_id: fileId } })
  const last = (await followToEnd(short, await submit())).at(-1)
  assert.equal(last?.error?.code, 'MEDIA_TOO_LONG')
  assert.match(last?.error?.message ?? '', /3 s/)
  await assert.rejects(submit(), { code: 'MEDIA_TOO_LONG', status: 413 }) // now that it is known
})

const odd: { name: string; planes: Planes; sampleRate: number }[] = [
  { name: 'silence', planes: [new Float32Array(44_100)], sampleRate: 44_100 },
  { name: 'one sample', planes: [Float32Array.of(0.5)], sampleRate: 44_100 },
  { name: 'shorter than a window', planes: [noise(0.02, 44_100)], sampleRate: 44_100 },
  { name: '8 kHz mono', planes: [noise(1.5, 8_000)], sampleRate: 8_000 },
  { name: '11.025 kHz', planes: [noise(1.3, 11_025)], sampleRate: 11_025 },
  {
    name: '192 kHz stereo',
    planes: [noise(1, 192_000), noise(1, 192_000, 7)],
    sampleRate: 192_000,
  },
  {
    name: '5.1 channels',
    sampleRate: 48_000,
    planes: [1, 2, 3, 4, 5, 6].map((seed) => noise(1, 48_000, seed)),
  },
  {
    name: 'channels in opposite phase',
    sampleRate: 44_100,
    planes: [noise(1, 44_100), noise(1, 44_100).map((x) => -x)],
  },
]

for (const { name, planes, sampleRate } of odd) {
  test(`${name}: target and residual keep rate, channels and length, and sum to the mixture`, async () => {
    const path = await write(`${name}.wav`, wavBytes(planes, sampleRate, 'pcm16'))
    const { submitted, last } = await separateFile(winnow, path, { prompt: 'white noise' })
    assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
    const files = await downloadResult(winnow, submitted)
    const [target, residual] = [readWav24(files.target), readWav24(files.residual)]
    assert.equal(target.sampleRate, sampleRate)
    assert.equal(target.planes.length, planes.length)
    assert.deepEqual(
      target.planes.map(({ length }) => length),
      planes.map(({ length }) => length),
    )
    const sixteenBits = planes.map((plane) =>
      plane.map((x) => Math.max(-32_768, Math.min(32_767, Math.round(x * 32_768))) / 32_768),
    )
    assert.ok(sumError(target.planes, residual.planes, sixteenBits) <= 3 / 2 ** 23)
  })
}

test('of a truncated file, what is there is separated', async () => {
  const whole = wavBytes([noise(4, 44_100)], 44_100)
  const path = await write('truncated.wav', whole.subarray(0, whole.length / 2))
  const { submitted, last } = await separateFile(winnow, path, { prompt: 'white noise' })
  assert.equal(last.status, 'COMPLETED', JSON.stringify(last.error))
  const { target } = await downloadResult(winnow, submitted)
  assert.ok(Math.abs(readWav24(target).planes[0]!.length - 88_200) < 50)
})

test('a file name with slashes and emoji stays a name', async () => {
  const bytes = wavBytes([noise(0.5, 16_000)], 16_000)
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const fileName = '../../ü/🐕 dog\n"quoted".wav'
  const created = await fetch(`${winnow.url}/v1/files`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      file_name: fileName,
      content_type: 'audio/wav',
      file_size: bytes.length,
      purpose: 'audio.separate.input',
    }),
  })
  assert.equal(created.status, 201)
  const { file_id, upload_url } = (await created.json()) as { file_id: string; upload_url: string }
  assert.ok((await fetch(upload_url, { method: 'PUT', body: bytes })).ok)
  const submitted = await winnow.client.submit({ input: { prompt: 'noise', file_id } })
  assert.equal((await followToEnd(winnow, submitted)).at(-1)?.status, 'COMPLETED')
  const { data } = await winnow.client.result(submitted)
  assert.ok(!/[/\n"]/.test(data.target.file_name), data.target.file_name)
  assert.match(data.target.file_name, /🐕 dog/)
  const download = await fetch(data.target.url)
  assert.equal(download.status, 200)
  assert.match(download.headers.get('content-disposition') ?? '', /filename\*=UTF-8''/)
})

test('a span that begins after the end is refused once the length is known', async () => {
  const path = await write('short.wav', wavBytes([noise(1, 16_000)], 16_000))
  const spans = [
    { start: 0, end: 1, include: true },
    { start: 5, end: 6, include: true },
  ]
  const { last } = await separateFile(winnow, path, { prompt: 'noise', spans })
  assert.deepEqual([last.status, last.error?.code], ['FAILED', 'INVALID_PARAMETER'])
  assert.match(
    last.error?.message ?? '',
    /spans\[1\] starts at 5 s, but the media ends at 1\.000 s/,
  )
})

after(async () => {
  // The last word: after all that, the same engine still serves.
  assert.equal(winnow.engines[0]?.child.exitCode, null)
})
