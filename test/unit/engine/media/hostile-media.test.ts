/** Media whose headers state what no recording has. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { AVERROR_EINVAL, AVERROR_ENOSPC } from 'node-av/constants'
import { CallError } from '../../../../engine/media/ffmpeg.ts'
import { measureSound } from '../../../../engine/media/measure.ts'
import { refusalOf } from '../../../../engine/media/open-media.ts'
import type { ServiceError } from '../../../../shared/errors.ts'
import { noise, wavBytes } from '../../../support/make-audio.ts'
import { mediaFolder, readSound } from './read-sound.ts'

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

test('the least and the greatest rate are kept', async () => {
  for (const sampleRate of [1_000, 384_000, 768_000]) {
    const path = await save('rate.wav', wavBytes([noise(0.1, sampleRate)], sampleRate))
    const { mixture, planes } = await readSound(path)
    assert.deepEqual([mixture.sampleRate, planes[0]!.length], [sampleRate, sampleRate / 10])
  }
})

test('more channels than can be mixed down are INVALID_MEDIA; as many as can be are mixed', async () => {
  const channels = (count: number) => Array.from({ length: count }, () => noise(0.1, 8000))
  await assertRefused(await save('65.wav', wavBytes(channels(65), 8000)), /has 65 channels; it may have 64/)
  const { planes } = await readSound(await save('64.wav', wavBytes(channels(64), 8000)), { channelsMax: 2 })
  assert.deepEqual(planes.map(({ length }) => length), [800, 800])
})

test('a rate that is stated only on the way is refused there', async () => {
  const flac = async (name: string, sampleRate: number) => {
    const audio = { planes: [noise(3, sampleRate)], sampleRate, encoder: 'flac' }
    return readFile(await make(name, 'flac', { audio }))
  }
  const bytes = Buffer.concat([await flac('1.flac', 8_000), await flac('2.flac', 500)])
  await assert.rejects(readSound(await save('both.flac', bytes)), { code: 'INVALID_MEDIA', message: /500 Hz/ })
})

test('what FFmpeg cannot do with a file is INVALID_MEDIA at once', async () => {
  const planes = [noise(0.5, 8000), noise(0.5, 8000)]
  const path = await save('loudspeakers.wav', wavBytes(planes, 8000, 'pcm16', 0x60000)) // it has no mix for these
  await assert.rejects(readSound(path, { channelsMax: 1 }), { code: 'INVALID_MEDIA', message: /could not be decoded/ })
})

test('a full disk, and what is no error of FFmpeg, is not the fault of the media', () => {
  const own = [new CallError(AVERROR_ENOSPC, 'write'), new Error('away'), new TypeError()]
  for (const error of own) assert.equal(refusalOf(error), error)
  const refused = new CallError(AVERROR_EINVAL, 'open the decoder')
  const { code, cause } = refusalOf(refused) as ServiceError
  assert.deepEqual([code, cause], ['INVALID_MEDIA', refused])
})
