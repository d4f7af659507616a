import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { mixtureOf } from '../../../../engine/media/read/decode.ts'
import { measureSound, secondsOf } from '../../../../engine/media/read/measure.ts'
import { openSound } from '../../../../engine/media/read/open-sound.ts'
import { chirp, noise, sine } from '../../../support/media/signals.ts'
import { wavBytes } from '../../../support/media/wav.ts'
import {
  assertBetween,
  assertNear,
  mediaFolder,
  NO_LIMITS,
  readSound,
  wholeOf,
} from './read-sound.ts'

const { save, make } = mediaFolder()

const measure = (path: string, secondsMax = 7200) => measureSound(path, { secondsMax })

/**
 * Seconds of a file as measured, and as decoded. Decoding gives the same sound after measuring,
 * without opening the file again.
 */
async function bothOf(path: string) {
  const measured = await measure(path)
  const { mixture, planes } = await readSound(path)
  const sound = await openSound(path)
  await secondsOf(sound, { secondsMax: 7200 })
  assert.equal(sound.reader.packets.areMissing, false)
  const again = await wholeOf(await mixtureOf(sound, NO_LIMITS))
  assert.deepEqual(again.planes, planes)
  assert.deepEqual({ ...again.mixture }, { ...mixture })
  return { measured: measured!, decoded: planes[0]!.length / mixture.sampleRate }
}

const SECONDS = 3.7
const at = (sampleRate: number) => [chirp(SECONDS, sampleRate), noise(SECONDS, sampleRate)]
const SAMPLE = 0.5 / 48_000

/** Container, encoder, and how near to what is decoded: a sample, or some seconds. */
const KINDS: [string, string, number][] = [
  ['mp3', 'libmp3lame', SAMPLE],
  ['ipod', 'aac', SAMPLE],
  ['mp4', 'aac', SAMPLE],
  ['adts', 'aac', SAMPLE],
  ['mp2', 'mp2', SAMPLE],
  ['flac', 'flac', SAMPLE],
  ['ipod', 'alac', SAMPLE],
  ['w64', 'pcm_s16le', SAMPLE],
  ['mov', 'pcm_s16le', SAMPLE],
  ['aiff', 'pcm_s16be', SAMPLE],
  ['wv', 'wavpack', SAMPLE],
  ['tta', 'tta', SAMPLE],
  ['avi', 'libmp3lame', SAMPLE],
  ['ogg', 'libopus', SAMPLE],
  ['ogg', 'flac', SAMPLE],
  ['ogg', 'libvorbis', 0.01],
  ['ac3', 'ac3', 0.01],
  ['eac3', 'eac3', 0.01],
  ['webm', 'libopus', 0.01],
  ['webm', 'libvorbis', 0.01],
  ['mpegts', 'aac', 0.01],
  ['matroska', 'aac', 0.02],
  ['matroska', 'libmp3lame', 0.01],
  ['matroska', 'flac', 0.02],
  ['flv', 'aac', 0.01],
  ['flv', 'libmp3lame', 0.01],
  ['asf', 'wmav2', 0.1],
]

for (const [container, encoder, near] of KINDS) {
  test(`${encoder} in ${container} lasts as long as what is decoded`, async () => {
    const sampleRate = encoder === 'libopus' ? 48_000 : 44_100
    const audio = { planes: at(sampleRate), sampleRate, encoder }
    const { measured, decoded } = await bothOf(
      await make(`${encoder}.${container}`, container, { audio }),
    )
    assertNear(measured, decoded, near)
  })
}

test('raw AAC and MP3 without a header, whose containers can only guess, are counted', async () => {
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

test('MP3 whose bit rate varies, without a header that says how long it is', async () => {
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

test('of a file that was cut off, what is there counts', async () => {
  const audio = { planes: at(44_100), sampleRate: 44_100, encoder: 'libmp3lame' }
  for (const [name, bytes] of [
    ['mp3', await readFile(await make('whole.mp3', 'mp3', { audio }))],
    ['wav', wavBytes(at(44_100), 44_100)],
  ] as const) {
    const cut = bytes.subarray(0, Math.floor(bytes.length * 0.6))
    const { measured, decoded } = await bothOf(await save(`cut.${name}`, cut))
    assertNear(measured, decoded, 0.03)
    assertBetween(measured, 0.5 * SECONDS, 0.7 * SECONDS)
  }
})

test('beside a picture the silence before a late sound counts, and the picture does not', async () => {
  for (const container of ['mp4', 'mov', 'matroska', 'mpegts', 'flv', 'avi']) {
    for (const delay of [0, 0.5]) {
      const audio = { planes: at(44_100), sampleRate: 44_100, encoder: 'aac', delay }
      const video = { seconds: 9, encoder: 'libx264' }
      const path = await make(`${delay}.${container}`, container, { audio, video })
      const { measured, decoded } = await bothOf(path)
      assertNear(measured, decoded, 0.03)
    }
  }
})

test('counting ends beyond what is allowed, and when it is aborted', async () => {
  const path = await save('long.wav', wavBytes([sine(440, 30, 8_000)], 8_000))
  assertBetween((await measure(path, 2))!, 2.000_001, 3)
  await assert.rejects(measureSound(path, { secondsMax: 9, signal: AbortSignal.abort() }), {
    name: 'AbortError',
  })
})
