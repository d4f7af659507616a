/** Levels of buffers, in dB relative to full scale. */

import { LevelMeter, type Level } from '../../shared/level-meter.ts'
import { planesOf } from './decode.ts'

export const toDb = (amplitude: number): number => 20 * Math.log10(amplitude)

export const fromDb = (db: number): number => 10 ** (db / 20)

/** The smallest step of 16 bits; a lower peak means silence. */
export const SILENCE_DB = -90

/** The largest absolute sample. */
export const peakOf = (buffer: AudioBuffer): number =>
  Math.max(0, ...planesOf(buffer).map((plane) => plane.reduce(largest, 0)))

const largest = (most: number, sample: number): number => Math.max(most, Math.abs(sample))

/** Measures peak and loudness of a buffer in the same way as engines do for a preview. */
export function levelOf(buffer: AudioBuffer): Level {
  const planes = planesOf(buffer)
  const meter = new LevelMeter(buffer.sampleRate)
  meter.add(planes)
  return meter.finish(planes.length)
}
