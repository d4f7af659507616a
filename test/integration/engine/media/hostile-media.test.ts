/** Media whose headers contain impossible values. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { constants, deflateRawSync } from 'node:zlib'
import { AVERROR_EINVAL, AVERROR_ENOMEM, AVERROR_ENOSPC } from 'node-av/constants'
import { FfmpegCallError } from '../../../../engine/media/ffmpeg.ts'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import { refusalOf } from '../../../../engine/media/read/open-media.ts'
import type { ServiceError } from '../../../../shared/errors.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'
import { noise } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { assertBetween, mediaFolder, readSound } from './read-sound.ts'

const { save, make } = mediaFolder()

async function assertRefused(path: string, message: RegExp): Promise<void> {
  const refusal = { code: 'INVALID_MEDIA', message }
  await assert.rejects(measureSound(path, { secondsMax: 7200 }), refusal)
  await assert.rejects(readSound(path), refusal)
}

test('a sample rate that no recording has is INVALID_MEDIA, which names it and the range', async () => {
  for (const sampleRate of [999, 768_001, 400_000_000, 2_000_000_000]) {
    const path = await save('rate.wav', wavBytes([noise(1, 1000)], sampleRate))
    await assertRefused(path, new RegExp(`${sampleRate} Hz; it must be 1000 to 768000 Hz`))
  }
})

test('the lowest and the highest rate are accepted', async () => {
  for (const sampleRate of [1_000, 384_000, 768_000]) {
    const path = await save('rate.wav', wavBytes([noise(0.1, sampleRate)], sampleRate))
    const { mixture, planes } = await readSound(path)
    assert.deepEqual([mixture.sampleRate, planes[0]!.length], [sampleRate, sampleRate / 10])
  }
})

test('more channels than can be mixed down are INVALID_MEDIA; as many as can be are mixed', async () => {
  const channels = (count: number) => Array.from({ length: count }, () => noise(0.1, 8000))
  await assertRefused(
    await save('65.wav', wavBytes(channels(65), 8000)),
    /has 65 channels; it may have 64/,
  )
  const { planes } = await readSound(await save('64.wav', wavBytes(channels(64), 8000)), {
    channelsMax: 2,
  })
  assert.deepEqual(
    planes.map(({ length }) => length),
    [800, 800],
  )
})

test('a rate that only appears later is refused there', async () => {
  const flac = async (name: string, sampleRate: number) => {
    const audio = { planes: [noise(3, sampleRate)], sampleRate, encoder: 'flac' }
    return readFile(await make(name, 'flac', { audio }))
  }
  const [first, second] = [await flac('1.flac', 8_000), await flac('2.flac', 500)]
  const frames = second.subarray(second.indexOf(Buffer.from([0xff, 0xf8])))
  await assert.rejects(readSound(await save('one.flac', Buffer.concat([first, frames]))), {
    code: 'INVALID_MEDIA',
    message: /500 Hz/,
  })
  const { mixture, planes } = await readSound(
    await save('two.flac', Buffer.concat([first, second])),
  )
  assert.equal(planes[0]!.length, 24_000)
  assert.match(mixture.remarks.join('\n'), /Recording 2 of the source is left out: .* is 500 Hz/)
})

test('sound at a very high rate may only be correspondingly shorter', async () => {
  const plane = noise(0.3, 768_000)
  const path = await save('dense.wav', wavBytes([plane, plane], 768_000))
  await assert.rejects(readSound(path, { mediaSecondsMax: 1 }), {
    code: 'MEDIA_TOO_LONG',
    message: /the limit is 0\.3 s for 2 channels at 768000 Hz/,
  })
  await readSound(path, { mediaSecondsMax: 1, channelsMax: 1 }) // only the channels that are decoded count
})

test('loudspeakers for which FFmpeg has no mix are mixed evenly', async () => {
  const planes = [noise(0.5, 8000), noise(0.5, 8000)]
  const path = await save('loudspeakers.wav', wavBytes(planes, 8000, 'pcm16', 0x60000))
  const { planes: mixed } = await readSound(path, { channelsMax: 1 })
  assert.equal(mixed.length, 1)
  const mean = planes[0]!.map((x, i) => (x + planes[1]![i]!) / 2)
  assertClose(mixed[0]!, mean, { absolute: 2 ** -16 + 2 ** -22 }) // each channel is stored in 16 bits
})

/** Makes an all-black PNG of 8192 x 8192 pixels of 64 bits: half a gigabyte in half a megabyte. */
function hugePng(): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(data.length)
    head.write(name, 4, 'latin1')
    return Buffer.concat([head, data, Buffer.alloc(4)])
  }
  const megabyte = deflateRawSync(Buffer.alloc(2 ** 20), { finishFlush: constants.Z_FULL_FLUSH })
  const rows = Buffer.concat([Buffer.from('789c', 'hex'), ...Array<Buffer>(513).fill(megabyte)])
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00002000000020001006000000', 'hex')),
    chunk('IDAT', rows),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Makes an ID3 tag with a picture. */
function coverTag(png: Buffer): Buffer {
  const picture = Buffer.concat([Buffer.from('\0image/png\0\x03\0', 'latin1'), png])
  const head = Buffer.alloc(20)
  head.write('ID3\x03', 'latin1')
  const bytes = picture.length + 10
  for (let i = 0; i < 4; i++) head[6 + i] = (bytes >> (21 - 7 * i)) & 0x7f
  head.write('APIC', 10, 'latin1')
  head.writeUInt32BE(picture.length, 14)
  return Buffer.concat([head, picture])
}

test('cover art is not decoded, however large it says it is', async () => {
  const audio = { planes: [noise(1, 44_100)], sampleRate: 44_100, encoder: 'libmp3lame' }
  const mp3 = await readFile(await make('plain.mp3', 'mp3', { audio }))
  const path = await save('cover.mp3', Buffer.concat([coverTag(hugePng()), mp3]))
  const before = process.resourceUsage().maxRSS
  const { mixture, planes } = await readSound(path)
  assert.deepEqual([mixture.hasVideo, planes[0]!.length], [false, 44_100])
  assertBetween((process.resourceUsage().maxRSS - before) / 1_024, 0, 100) // MiB
})

test('a full disk, lack of memory, and errors from outside FFmpeg are not blamed on the media', () => {
  const own = [
    new FfmpegCallError(AVERROR_ENOSPC, 'write'),
    new FfmpegCallError(AVERROR_ENOMEM, 'read'),
    new Error('away'),
    new TypeError(),
  ]
  for (const error of own) assert.equal(refusalOf(error), error)
  const refused = new FfmpegCallError(AVERROR_EINVAL, 'open the decoder')
  const { code, cause } = refusalOf(refused) as ServiceError
  assert.deepEqual([code, cause], ['INVALID_MEDIA', refused])
})
