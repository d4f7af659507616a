/** Measures separated sound, and reads the example files. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readWav24 } from './wav.ts'

export const examplePath = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url))

/** Reads a 16-bit WAV file with a plain header, like those of the examples. */
export async function readWav16(path: string): Promise<Float32Array[]> {
  const file = await readFile(path)
  const channels = file.readUInt16LE(22)
  const data = file.subarray(44)
  return Array.from({ length: channels }, (_, c) =>
    Float32Array.from(
      { length: data.length / 2 / channels },
      (_unused, i) => data.readInt16LE((i * channels + c) * 2) / 2 ** 15,
    ),
  )
}

/**
 * Scale-invariant signal-to-distortion ratio in dB, over all channels together.
 * (Le Roux et al., "SDR – half-baked or well done?", ICASSP 2019.)
 */
export function siSdr(
  estimate: readonly Float32Array[],
  reference: readonly Float32Array[],
): number {
  let cross = 0
  let energy = 0
  for (const [c, channel] of reference.entries()) {
    for (const [i, s] of channel.entries()) {
      cross += s * (estimate[c]?.[i] ?? 0)
      energy += s * s
    }
  }
  const scale = cross / energy
  let distortion = 0
  for (const [c, channel] of reference.entries()) {
    for (const [i, s] of channel.entries()) distortion += (scale * s - (estimate[c]?.[i] ?? 0)) ** 2
  }
  return 10 * Math.log10((scale * scale * energy) / distortion)
}

/** Bounds `sumError`: both outputs are rounded to 24 bits, and their sum to float32. */
export const SUM_ERROR_MAX = 3 / 2 ** 23

/** Returns the largest difference between a sample of `target + residual` and of the mixture. */
export function sumError(
  target: readonly Float32Array[],
  residual: readonly Float32Array[],
  mixture: readonly Float32Array[],
): number {
  let worst = 0
  for (const [c, channel] of mixture.entries()) {
    for (const [i, x] of channel.entries()) {
      worst = Math.max(worst, Math.abs((target[c]?.[i] ?? 0) + (residual[c]?.[i] ?? 0) - x))
    }
  }
  return worst
}

/**
 * Fails unless these WAV outputs for `siren-and-speech.wav` add up to it and the target is the
 * siren.
 */
export async function assertSiren(outputs: { target: Buffer; residual: Buffer }): Promise<void> {
  const name = 'siren-and-speech'
  const [target, residual] = [outputs.target, outputs.residual].map((wav) => readWav24(wav).planes)
  const mixture = await readWav16(examplePath(`${name}.wav`))
  assert.ok(sumError(target!, residual!, mixture) <= SUM_ERROR_MAX, 'the parts add up')
  const siren = await readWav16(examplePath(`sources/${name}/siren.wav`))
  assert.ok(siSdr(target!, siren) > siSdr(mixture, siren) + 6, 'the target is the siren')
}
