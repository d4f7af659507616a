/** The codec: samples to features and back, in slices that bound what is held (DACVAE). */
import { deviceKind, pad, tf, type Tensor, type Tensor3D } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { hopOf, type CodecConfig } from '../config.ts'
import { loadDecoder, type Decoder } from './decoder.ts'
import { loadEncoder, type Encoder } from './encoder.ts'
import type { RowFrames } from './mask.ts'
import { planSlices, type Slice } from './slices.ts'

/** Latent frames worked on at once, without their context: some seconds. */
const SLICE_FRAMES = 128

/**
 * A row of one slice is extended to a multiple of it. A GPU prepares kernels for each length; a
 * processor gains nothing by it.
 */
const SHORT_STEP = deviceKind() === 'gpu' ? 16 : 1

export interface EncodedBatch {
  /** [batch, longest, codebookDim]; what is beyond a row's frames is of no meaning. */
  features: Tensor
  /** Real frames of each row. */
  rows: readonly number[]
}

/** Latent frames of so many samples. */
export const frameCount = (samples: number, hop: number): number => Math.ceil(samples / hop)

/**
 * Waves of any lengths to features; the caller frees these. Each wave is extended to whole frames
 * by its mirror image, as the reference does with one that is alone.
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

/** The slices that so many latent frames are encoded in. */
export const encodingSlices = (encoder: Encoder, frames: number): Slice[] =>
  planSlices(frames, SLICE_FRAMES, encoder.contextFrames, SHORT_STEP)

/** As `encodeWaves`, the features of a slice: [batch, end - start, codebookDim]. */
export function encodeSlice(
  encoder: Encoder,
  config: CodecConfig,
  waves: readonly Float32Array[],
  { from, to, start, end }: Slice,
): Tensor {
  const hop = hopOf(config)
  const rows = waves.map(({ length }) => frameCount(length, hop))
  const whole = waves.map(
    (
      wave,
      i, // only where the slice reaches beyond it
    ) => (wave.length >= to * hop ? wave : mirrorTo(wave, rows[i]! * hop)),
  )
  return tf.tidy(() => {
    const samples = sampleBatch(whole, from * hop, to * hop) // [batch, (to - from) · hop, 1]
    const part = encoder.forward(samples, rowsWithin(rows, from, to), to - from)
    return tf.slice(part, [0, start - from, 0], [-1, end - start, -1])
  })
}

/** latents [batch, longest, codebookDim] to samples [batch, longest · hop]; the caller frees it. */
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

/** The slices that so many latent frames are decoded in. */
export const decodingSlices = (decoder: Decoder, frames: number): Slice[] =>
  planSlices(frames, SLICE_FRAMES, decoder.contextFrames, SHORT_STEP)

/** latents [batch, longest, codebookDim] to the samples of a slice, [batch, samples]. */
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
    const frames = beyond === 0 ? real : padFrames(real, beyond)
    const inRows = rows ?? (beyond === 0 ? null : Array<number>(batch).fill(longest))
    const part = decoder.forward(frames, inRows && rowsWithin(inRows, from, to))
    return tf.slice(part, [0, (start - from) * hop, 0], [-1, (end - start) * hop, 1]).squeeze([2])
  })
}

/** x [batch, frames, channels] with so many frames of zeros more. */
const padFrames = (x: Tensor, frames: number): Tensor =>
  pad(x, [
    [0, 0],
    [0, frames],
    [0, 0],
  ])

/** Real frames of each row between two. */
const rowsWithin = (rows: readonly number[], from: number, to: number): number[] =>
  rows.map((frames) => Math.min(Math.max(frames - from, 0), to - from))

function sampleBatch(waves: readonly Float32Array[], from: number, to: number): Tensor3D {
  const flat = new Float32Array(waves.length * (to - from))
  for (const [i, wave] of waves.entries()) flat.set(wave.subarray(from, to), i * (to - from))
  return tf.tensor3d(flat, [waves.length, to - from, 1])
}

/** The wave, and after it its mirror image without the last sample, again and again. */
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

/** @param weights of the codec; its watermark's stay unread */
export const loadCodec = (weights: Weights, config: CodecConfig) => ({
  encoder: loadEncoder(weights, config),
  decoder: loadDecoder(weights, config),
})
