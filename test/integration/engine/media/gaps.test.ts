/** Files with gaps in their timestamps: sound stays in place, and lasts as long as measured. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { openMixture } from '../../../../engine/media/read/decode.ts'
import { measureSound } from '../../../../engine/media/read/measure.ts'
import { fc } from '../../../support/basics/property.ts'
import { noise } from '../../../support/media/signals.ts'
import {
  assertBetween,
  assertNear,
  correlation,
  mediaFolder,
  NO_LIMITS,
  readSound,
} from './read-sound.ts'

const { save, make } = mediaFolder()

const RATE = 48_000
/** A whole number of frames for every encoder below: 2.88 s. */
const AFTER = 138_240
const GAP_SECONDS = 4

/** Inserts `gap` samples of silence into `wave` after the first `after` samples. */
function insertGap(wave: Float32Array, after: number, gap: number): Float32Array {
  const result = new Float32Array(wave.length + gap)
  result.set(wave.subarray(0, after))
  result.set(wave.subarray(after), after + gap)
  return result
}

const kinds = [
  ['matroska', 'aac', null],
  ['matroska', 'flac', null],
  ['matroska', 'pcm_s16le', null],
  ['webm', 'libopus', null],
  ['mp4', 'aac', null],
  ['mov', 'aac', null],
  ['mpegts', 'aac', null],
  ['flv', 'aac', null],
  ['mp4', 'aac', 44_100],
  ['matroska', 'pcm_s16le', 16_000],
] as const
for (const [container, encoder, sampleRate] of kinds) {
  test(`${encoder} in ${container}${sampleRate ? ', resampled' : ''}: a gap becomes silence`, async () => {
    const audio = { planes: [noise(6, RATE)], sampleRate: RATE, encoder }
    const video = { seconds: 10, encoder: container === 'webm' ? 'libvpx' : 'libx264' }
    const jumps = [{ afterSample: AFTER, seconds: GAP_SECONDS }]
    const whole = await make(`whole.${container}`, container, { audio, video })
    const path = await make(`gap.${container}`, container, { audio: { ...audio, jumps }, video })
    const unbroken = await readSound(whole, { sampleRate })
    const { mixture, planes } = await readSound(path, { sampleRate })
    const at = (seconds: number) => Math.round(seconds * mixture.sampleRate)
    const [decoded, expected] = [
      planes[0]!,
      insertGap(unbroken.planes[0]!, at(AFTER / RATE), at(GAP_SECONDS)),
    ]
    assertNear(decoded.length, expected.length, at(0.002))
    const silence = decoded.subarray(at(3.1), at(6.8))
    assert.ok(
      silence.every((sample) => sample === 0),
      'the gap is silent',
    )
    const likeness = Array.from(
      { length: 2 * at(0.002) },
      (
        _,
        i, // times may be rounded to milliseconds
      ) => correlation(expected, decoded, { start: at(8), count: 4_000, lag: i - at(0.002) }),
    )
    assertBetween(Math.max(...likeness), 0.6, 1.0001)
    const seconds = decoded.length / mixture.sampleRate
    assertNear((await measureSound(path, { secondsMax: 60 }))!, seconds, 0.03)
  })
}

test('a gap too small to be trusted is left as it is', async () => {
  const audio = { planes: [noise(3, RATE)], sampleRate: RATE, encoder: 'flac' }
  const jumps = [{ afterSample: AFTER, seconds: 0.05 }]
  const path = await make('jitter.mkv', 'matroska', { audio: { ...audio, jumps } })
  const { planes } = await readSound(path)
  assert.equal(planes[0]!.length, 3 * RATE)
})

test('a pause while pictures continue is silence, however long', async () => {
  const audio = { planes: [noise(6, RATE)], sampleRate: RATE, encoder: 'aac' }
  const jumps = [{ afterSample: AFTER, seconds: 15 }]
  const video = { seconds: 21, encoder: 'libx264' }
  const containerOptions = { max_interleave_delta: '0' }
  for (const container of ['matroska', 'mp4', 'mpegts']) {
    const tracks = { audio: { ...audio, jumps }, video, containerOptions }
    const path = await make(`long.${container}`, container, tracks)
    const { mixture, planes } = await readSound(path)
    assertNear(planes[0]!.length / RATE, 21, 0.1)
    assert.deepEqual(mixture.remarks, [])
    assertNear((await measureSound(path, { secondsMax: 60 }))!, 21, 0.1)
    const [limited, blocks] = [await openMixture(path, { ...NO_LIMITS, mediaSecondsMax: 16 }), []]
    const drain = async () => {
      for await (const block of limited.blocks()) blocks.push(block[0]!.length as never)
    }
    await assert.rejects(drain, { code: 'MEDIA_TOO_LONG' })
    assertBetween(blocks.length * 65_536, 2 * RATE, 3 * RATE) // without any of the gap
    await limited.close()
  }
})

test('a step back drops nothing: sound follows sound, and later gaps count from there', async () => {
  const audio = { planes: [noise(6, RATE)], sampleRate: RATE, encoder: 'aac' }
  const jumps = [{ afterSample: AFTER, seconds: GAP_SECONDS }]
  const paths = [
    await make('1.ts', 'mpegts', { audio }),
    await make('2.ts', 'mpegts', { audio: { ...audio, jumps } }),
  ]
  const path = await save(
    '12.ts',
    Buffer.concat(await Promise.all(paths.map((part) => readFile(part)))),
  )
  const { planes } = await readSound(path)
  assertNear(planes[0]!.length / RATE, 6 + 6 + GAP_SECONDS, 0.1)
  assertNear((await measureSound(path, { secondsMax: 60 }))!, planes[0]!.length / RATE, 0.1)
})

/** With these sizes every time is a whole number of milliseconds, which is Matroska's unit. */
const SLOW_RATE = 8_000
const FRAME_SAMPLES = 1_024
const FRAMES = 24
const SLOW = noise((FRAMES * FRAME_SAMPLES) / SLOW_RATE, SLOW_RATE).map(
  (x) => Math.round(x * 2 ** 15) / 2 ** 15,
)

/** Gaps in milliseconds after each frame but the last; most are 0. */
const anyGaps = (milliseconds: fc.Arbitrary<number>) =>
  fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, milliseconds), {
    minLength: FRAMES - 1,
    maxLength: FRAMES - 1,
  })

function makeWithGaps(gaps: readonly number[]): Promise<string> {
  const jumps = gaps.map((ms, i) => ({ afterSample: (i + 1) * FRAME_SAMPLES, seconds: ms / 1_000 }))
  const audio = { planes: [SLOW], sampleRate: SLOW_RATE, encoder: 'pcm_s16le', jumps }
  return make('any.mkv', 'matroska', { audio })
}

test('any gaps that can be trusted: each frame is where its time says', async () => {
  await fc.assert(
    fc.asyncProperty(anyGaps(fc.integer({ min: 101, max: 900 })), async (gaps) => {
      let expected: Float32Array = SLOW
      for (let i = gaps.length - 1; i >= 0; i--) {
        expected = insertGap(expected, (i + 1) * FRAME_SAMPLES, (gaps[i]! * SLOW_RATE) / 1_000)
      }
      const path = await makeWithGaps(gaps)
      assert.deepEqual((await readSound(path)).planes[0], expected)
      assertNear(
        (await measureSound(path, { secondsMax: 60 }))!,
        expected.length / SLOW_RATE,
        0.001,
      )
    }),
    { numRuns: 30 },
  )
})

test('any gaps: sound is never more than a tenth of a second too early, as measured', async () => {
  await fc.assert(
    fc.asyncProperty(anyGaps(fc.integer({ min: 1, max: 250 })), async (gaps) => {
      const path = await makeWithGaps(gaps)
      const seconds = (await readSound(path)).planes[0]!.length / SLOW_RATE
      const due = SLOW.length / SLOW_RATE + gaps.reduce((sum, ms) => sum + ms / 1_000, 0)
      assertBetween(seconds, due - 0.1001, due + 0.0001)
      // When measuring, a gap of one millisecond counts as the rounding of a duration.
      assertNear((await measureSound(path, { secondsMax: 60 }))!, seconds, FRAMES * 0.001)
    }),
    { numRuns: 30 },
  )
})
