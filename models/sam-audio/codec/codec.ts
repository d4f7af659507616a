/**
 * The codec (DACVAE): turns samples into features and back, in slices that bound the memory used.
 */
import { deviceKind, pad, tf, type Tensor, type Tensor3D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { hopOf, type CodecConfig } from '../config.ts'
import { loadDecoder, type Decoder } from './decoder.ts'
import { loadEncoder, type Encoder } from './encoder.ts'
import type { RowFrames } from './mask.ts'
import { planSlices, type Slice } from './slices.ts'

/** How many latent frames are processed at once, not counting context: a few seconds. */
const SLICE_FRAMES = 128

/**
 * A row that fits into one slice is padded to a multiple of this. A GPU prepares kernels for each
 * length; a CPU gains nothing from it.
 */
const SHORT_STEP = deviceKind() === 'gpu' ? 16 : 1

export interface EncodedBatch {
  /** [batch, longest, codebookDim]; values after a row's real frames are meaningless. */
  features: Tensor
  /** How many real frames each row has. */
  rows: readonly number[]
}

/** Returns how many latent frames `samples` samples take. */
export const frameCount = (samples: number, hop: number): number => Math.ceil(samples / hop)

/**
 * Encodes waves of any length to features, which the caller frees. Each wave is extended to whole
 * frames with its mirror image, as the reference does with a single wave.
 */
export function encodeWaves(
  encoder: Encoder,
  config: CodecConfig,
  waves: readonly Float32Array[],
  { sliceFrames = SLICE_FRAMES, shortStep = SHORT_STEP } = {},
): EncodedBatch {
  const hop = hopOf(config)
  const rows = waves.map(({ length }) => frameCount(length, hop))
  const longest = Math.max(...rows)
  const features = tf.tidy(() => {
    const slices = planSlices(longest, sliceFrames, encoder.contextFrames, shortStep)
    const parts = slices.map((slice) => encodeSlice(encoder, config, waves, slice))
    return tf.concat(parts, 1) // [batch, longest, codebookDim]
  })
  return { features, rows }
}

/** Plans the slices in which this many latent frames are encoded. */
export const encodingSlices = (encoder: Encoder, frames: number): Slice[] =>
  planSlices(frames, SLICE_FRAMES, encoder.contextFrames, SHORT_STEP)

/** Like `encodeWaves`, for one slice: returns features [batch, end - start, codebookDim]. */
export function encodeSlice(
  encoder: Encoder,
  config: CodecConfig,
  waves: readonly Float32Array[],
  { from, to, start, end }: Slice,
): Tensor {
  const hop = hopOf(config)
  const rows = waves.map(({ length }) => frameCount(length, hop))
  const whole = waves.map((wave, i) =>
    wave.length >= to * hop ? wave : mirrorTo(wave, rows[i]! * hop),
  )
  return tf.tidy(() => {
    const samples = sampleBatch(whole, from * hop, to * hop) // [batch, (to - from) · hop, 1]
    const part = encoder.forward(samples, rowsWithin(rows, from, to), to - from)
    return tf.slice(part, [0, start - from, 0], [-1, end - start, -1])
  })
}

/**
 * Decodes latents [batch, longest, codebookDim] to samples [batch, longest · hop], which the caller
 * frees.
 */
export function decodeLatents(
  decoder: Decoder,
  config: CodecConfig,
  latents: Tensor,
  rows: RowFrames = null,
  { sliceFrames = SLICE_FRAMES, shortStep = SHORT_STEP } = {},
): Tensor {
  return tf.tidy(() => {
    const longest = latents.shape[1]!
    const slices = planSlices(longest, sliceFrames, decoder.contextFrames, shortStep)
    const parts = slices.map((slice) => decodeSlice(decoder, config, latents, slice, rows))
    return tf.concat(parts, 1) // [batch, longest · hop]
  })
}

/** Plans the slices in which this many latent frames are decoded. */
export const decodingSlices = (decoder: Decoder, frames: number): Slice[] =>
  planSlices(frames, SLICE_FRAMES, decoder.contextFrames, SHORT_STEP)

/** Decodes latents [batch, longest, codebookDim] to the samples of one slice, [batch, samples]. */
export function decodeSlice(
  decoder: Decoder,
  config: CodecConfig,
  latents: Tensor,
  { from, to, start, end }: Slice,
  rows: RowFrames = null,
): Tensor {
  const hop = hopOf(config)
  const [batch, longest] = latents.shape as [number, number, number]
  return tf.tidy(() => {
    const real = tf.slice(latents, [0, from, 0], [-1, Math.min(to, longest) - from, -1])
    const beyond = Math.max(0, to - longest)
    const frames = beyond === 0 ? real : pad(real, { 1: [0, beyond] })
    const inRows = rows ?? (beyond === 0 ? null : Array<number>(batch).fill(longest))
    const part = decoder.forward(frames, inRows && rowsWithin(inRows, from, to))
    return tf.slice(part, [0, (start - from) * hop, 0], [-1, (end - start) * hop, 1]).squeeze([2])
  })
}

/** Returns how many real frames each row has between `from` and `to`. */
const rowsWithin = (rows: readonly number[], from: number, to: number): number[] =>
  rows.map((frames) => Math.min(Math.max(frames - from, 0), to - from))

function sampleBatch(waves: readonly Float32Array[], from: number, to: number): Tensor3D {
  const flat = new Float32Array(waves.length * (to - from))
  for (const [i, wave] of waves.entries()) flat.set(wave.subarray(from, to), i * (to - from))
  return tf.tensor3d(flat, [waves.length, to - from, 1])
}

/**
 * Extends the wave with its mirror image, without repeating the last sample, as often as needed.
 */
export function mirrorTo(wave: Float32Array, length: number): Float32Array {
  if (wave.length === length) return wave
  const out = new Float32Array(length)
  out.set(wave)
  const period = Math.max(1, 2 * (wave.length - 1))
  for (let i = wave.length; i < length; i += 1) {
    const phase = i % period
    out[i] = wave[Math.min(phase, period - phase)]!
  }
  return out
}

/** @param weights of the codec; those of the watermark are not read */
export const loadCodec = (weights: Weights, config: CodecConfig) => ({
  encoder: loadEncoder(weights, config),
  decoder: loadDecoder(weights, config),
})
