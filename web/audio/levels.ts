/** Levels of buffers, in dB of full scale. */

import { planesOf } from './decode.ts'

export const toDb = (amplitude: number): number => 20 * Math.log10(amplitude)

export const fromDb = (db: number): number => 10 ** (db / 20)

/** The smallest step of 16 bits: peaks below it are silence. */
export const SILENCE_DB = -90

/** The largest absolute sample. */
export const peakOf = (buffer: AudioBuffer): number =>
  Math.max(0, ...planesOf(buffer).map((plane) => plane.reduce(largest, 0)))

const largest = (most: number, sample: number): number => Math.max(most, Math.abs(sample))

/** Blocks for the loudness: 0.4 s, as ITU-R BS.1770 has them. */
const BLOCK_SECONDS = 0.4
/** Blocks that are quieter than this do not count, as in BS.1770. */
const GATE_DB = -70

/**
 * The root mean square over the blocks in which there is sound, 0 where there is none: the gating
 * of ITU-R BS.1770 without its frequency weighting.
 */
export function loudnessOf(buffer: AudioBuffer): number {
  const block = Math.max(1, Math.round(BLOCK_SECONDS * buffer.sampleRate))
  const planes = planesOf(buffer)
  const powers: number[] = []
  for (let start = 0; start < buffer.length; start += block) {
    const end = Math.min(buffer.length, start + block)
    let power = 0
    for (const plane of planes) for (let i = start; i < end; i += 1) power += plane[i]! ** 2
    powers.push(power / (end - start) / planes.length)
  }
  const loud = powers.filter((power) => 10 * Math.log10(power) > GATE_DB)
  return loud.length === 0 ? 0 : Math.sqrt(loud.reduce((a, b) => a + b) / loud.length)
}
