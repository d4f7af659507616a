/**
 * Makes media files and the videos of a job, decodes whole sounds, and compares them with messages
 * that show the difference.
 */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { makeMedia, type Tracks } from '../../../support/media/make-media.ts'
import { mixtureOf, openMixture } from '../../../../engine/media/read/decode.ts'
import { measureSound, secondsOf } from '../../../../engine/media/read/measure.ts'
import { openSound } from '../../../../engine/media/read/open-sound.ts'
import { createEncoder } from '../../../../engine/media/write/encode.ts'
import { muxVideo } from '../../../../engine/media/write/mux-video.ts'
import { prepareVideo } from '../../../../engine/media/write/prepare-video.ts'
import type { Mixture, MixtureLimits } from '../../../../engine/media/read/mixture.ts'
import { concatenate } from '../../../support/media/signals.ts'

export const NO_LIMITS: MixtureLimits = { mediaSecondsMax: 7200, channelsMax: 64, sampleRate: null }

/**
 * Provides a folder for the media of one test file; both functions return the path of the file they
 * wrote.
 */
export function mediaFolder() {
  const folder = temporaryFolder({ after })
  return {
    async save(name: string, bytes: Uint8Array): Promise<string> {
      const path = join(folder, name)
      await writeFile(path, bytes)
      return path
    },
    async make(name: string, container: string, tracks: Tracks): Promise<string> {
      const path = join(folder, name)
      await makeMedia(path, container, tracks)
      return path
    },
  }
}

export interface Sound {
  mixture: Mixture
  planes: Float32Array[]
  blockLengths: number[]
}

/** Decodes a whole file. */
export async function readSound(path: string, limits: Partial<MixtureLimits> = {}): Promise<Sound> {
  return wholeOf(await openMixture(path, { ...NO_LIMITS, ...limits }))
}

/** Decodes a mixture to its end and closes it. */
export async function wholeOf(mixture: Mixture): Promise<Sound> {
  try {
    const blocks: Float32Array[][] = []
    for await (const block of mixture.blocks()) blocks.push(block)
    const planes = Array.from({ length: mixture.channels }, (_, channel) =>
      concatenate(blocks.map((block) => block[channel]!)),
    )
    return { mixture, planes, blockLengths: blocks.map((block) => block[0]!.length) }
  } finally {
    await mixture.close()
  }
}

/** Returns from -1 to 1 how much `a` resembles `b` shifted by `lag` samples. */
export function correlation(
  a: Float32Array,
  b: Float32Array,
  { start = 0, count = a.length, lag = 0 } = {},
): number {
  let ab = 0
  let aa = 0
  let bb = 0
  for (let i = start; i < Math.min(a.length, start + count); i++) {
    const [x, y] = [a[i] ?? 0, b[i + lag] ?? 0]
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return ab / Math.sqrt(aa * bb)
}

/** Returns how many samples, up to 50 either way, `b` is behind `a`. */
export function lagOf(a: Float32Array, b: Float32Array): number {
  const window = { start: 8000, count: 4000 }
  const lags = Array.from({ length: 101 }, (_, i) => i - 50)
  const likeness = lags.map((lag) => correlation(a, b, { ...window, lag }))
  return lags[likeness.indexOf(Math.max(...likeness))]!
}

/** Fails unless `actual` follows `expected`, at any loudness; 1 is a perfect match. */
export function assertAlike(actual: Float32Array, expected: Float32Array, least: number): void {
  assertBetween(correlation(expected, actual), least, 1.000001)
}

export function assertBetween(actual: number, least: number, most: number): void {
  assert.equal(actual >= least && actual <= most, true, `${actual} is not in ${least}..${most}`)
}

export const assertNear = (actual: number, expected: number, tolerance: number): void =>
  assertBetween(actual, expected - tolerance, expected + tolerance)

/** Half a sample, in seconds. */
export const SAMPLE = 0.5 / 48_000

/**
 * Returns the length of a file in seconds, as measured and as decoded. Also asserts that decoding
 * gives the same sound after measuring, without opening the file again.
 */
export async function bothOf(path: string) {
  const measured = await measureSound(path, { secondsMax: 7200 })
  const { mixture, planes } = await readSound(path)
  const sound = await openSound(path)
  await secondsOf(sound, 7200)
  assert.equal(sound.reader.packets.areMissing, false)
  const again = await wholeOf(await mixtureOf(sound, NO_LIMITS))
  assert.deepEqual(again.planes, planes)
  assert.deepEqual({ ...again.mixture }, { ...mixture })
  return { measured: measured!, decoded: planes[0]!.length / mixture.sampleRate }
}

/** Makes the video of a job next to its source, with other sound. */
export async function makeOutputVideo(
  path: string,
  planes: Float32Array[],
  { sampleRate = 48_000, soundIndex }: { sampleRate?: number; soundIndex?: number } = {},
) {
  const video = await prepareVideo({ path, soundIndex, folder: dirname(path) })
  const audioPath = `${path}.m4a`
  const sound = { format: 'aac', sampleRate, channels: planes.length } as const
  const encoder = await createEncoder(audioPath, sound)
  await encoder.write(planes)
  await encoder.finish()
  const file = await muxVideo({ video, audioPath, path: `${path}.mp4` })
  return { video, file, path: `${path}.mp4` }
}
