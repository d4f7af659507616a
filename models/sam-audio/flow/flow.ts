/** Steps flows of any length, each at its own time, in one padded batch. */
import { deviceKind, pad, tf, type Tensor } from '../../tensorflow/tensor.ts'
import { midpointStep, type Stride } from './ode.ts'
import { rowMask } from '../layers/row-mask.ts'
import type { EmbedTime } from './time-embedding.ts'
import type { VelocityNetwork } from './velocity.ts'

/** The flow of one chunk and prompt, from noise to latents. */
export interface Flow {
  /** [1, frames, dim]: the conditioning of the chunk, from features, anchors and video. */
  readonly base: Tensor
  /** [1, words, contextDim]: the text encoder's states. */
  readonly memory: Tensor
  /** [1, frames, channels]: the state of the ODE. */
  readonly state: Tensor
}

/**
 * Returns the length to which rows of this many frames or words are padded. A GPU prepares kernels
 * for each shape and runs recurring shapes as a graph. With this rounding there are only eight
 * lengths per doubling, at a cost of at most an eighth. On a CPU, padding costs more than it
 * saves.
 */
export type BucketOf = (length: number) => number

export const bucketOnGpu: BucketOf = (length) => {
  const step = Math.max(4, 2 ** (Math.floor(Math.log2(length)) - 3))
  return step * Math.ceil(length / step)
}

const bucketHere: BucketOf = deviceKind() === 'gpu' ? bucketOnGpu : (length) => length

/**
 * Takes one midpoint step of every flow, each at its own place in its own plan.
 * @returns the new states, [1, frames, channels] each, which the caller frees
 */
export function stepFlows(
  network: VelocityNetwork,
  embedTime: EmbedTime,
  flows: readonly Flow[],
  strides: readonly Stride[],
  bucketOf = bucketHere,
): Tensor[] {
  return tf.tidy(() => {
    const frames = flows.map(({ state }) => state.shape[1]!)
    const words = flows.map(({ memory }) => memory.shape[1]!)
    const [longest, mostWords] = [bucketOf(Math.max(...frames)), bucketOf(Math.max(...words))]
    const conditions = {
      base: padRows(
        flows.map(({ base }) => base),
        longest,
      ),
      memory: padRows(
        flows.map(({ memory }) => memory),
        mostWords,
      ),
      frames: rowMask(frames, longest),
      textKeys: rowMask(words, mostWords)?.keys ?? null, // of words that only pad a row
    }
    const velocityAt = (state: Tensor, times: readonly number[]) =>
      tf.tidy(() => network.forward(state, embedTime(times), conditions))
    const states = padRows(
      flows.map(({ state }) => state),
      longest,
    )
    const next = midpointStep(velocityAt, states, strides)
    return flows.map((_, row) => tf.slice(next, [row, 0, 0], [1, frames[row]!, -1]))
  })
}

/** Pads rows [1, length, width] of one width to a batch of the same length. */
function padRows(rows: readonly Tensor[], longest: number): Tensor {
  return tf.concat(
    rows.map((row) =>
      row.shape[1] === longest ? row : pad(row, { 1: [0, longest - row.shape[1]!] }),
    ),
  )
}
