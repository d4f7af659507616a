import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import { noise, sine } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import { assertBetween, assertNear, bothOf, mediaFolder, SAMPLE } from './read-sound.ts'

const { save, make } = mediaFolder()

const measure = (path: string, secondsMax = 7200) => measureSound(path, { secondsMax })

test('raw AAC, and MP3 without a header, are counted because their containers can only guess', async () => {
  const sampleRate = 44_100
  const loudThenSilent = [noise(60, sampleRate).fill(0, 10 * sampleRate)]
  const silentThenLoud = [noise(60, sampleRate).fill(0, 0, 50 * sampleRate)]
  const headerless = { write_xing: '0', id3v2_version: '0' }
  for (const planes of [loudThenSilent, silentThenLoud]) {
    const aac = await make('raw.aac', 'adts', { audio: { planes, sampleRate, encoder: 'aac' } })
    const mp3 = await make('raw.mp3', 'mp3', {
      audio: { planes, sampleRate, encoder: 'libmp3lame' },
      containerOptions: headerless,
    })
    for (const path of [aac, mp3]) {
      const { measured, decoded } = await bothOf(path)
      assertNear(measured, decoded, SAMPLE)
      assertNear(decoded, 60, 0.1)
    }
  }
})

test('MP3 with a variable bit rate and no header that states its length is counted', async () => {
  const sampleRate = 44_100
  const planes = [noise(20, sampleRate).fill(0, 4 * sampleRate)]
  const parts = await Promise.all(
    [320_000, 32_000].map(async (bitRate) =>
      readFile(
        await make(`${bitRate}.mp3`, 'mp3', {
          audio: { planes, sampleRate, encoder: 'libmp3lame', bitRate },
          containerOptions: { write_xing: '0', id3v2_version: '0' },
        }),
      ),
    ),
  )
  const { measured, decoded } = await bothOf(await save('varying.mp3', Buffer.concat(parts)))
  assertNear(measured, decoded, SAMPLE)
})

test('with a picture the silence before late sound counts, but the picture does not', async () => {
  for (const container of ['mp4', 'mov', 'matroska', 'mpegts', 'flv', 'avi']) {
    for (const delay of [0, 0.5]) {
      const audio = { planes: [noise(3.7, 44_100)], sampleRate: 44_100, encoder: 'aac', delay }
      const video = { seconds: 9, encoder: 'libx264' }
      const path = await make(`${delay}.${container}`, container, { audio, video })
      const { measured, decoded } = await bothOf(path)
      assertNear(measured, decoded, 0.03)
    }
  }
})

test('counting stops beyond the limit', async () => {
  const path = await save('long.wav', wavBytes([sine(440, 30, 8_000)], 8_000))
  assertBetween((await measure(path, 2))!, 2.000_001, 3)
})
