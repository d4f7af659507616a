/** Flows of any lengths and at any places stepped in one padded batch. */
import { pad, tf, type Tensor } from '../../tensor.ts'
import { midpointStep, type Stride } from './ode.ts'
import { rowMask } from '../layers/row-mask.ts'
import type { EmbedTime } from './time-embedding.ts'
import type { VelocityNetwork } from './velocity.ts'

/** The flow of one chunk and prompt, from noise to latents. */
export interface Flow {
  /** [1, frames, dim]: the conditioning of the chunk: features, anchors and picture. */
  readonly base: Tensor
  /** [1, words, contextDim]: the text's states. */
  readonly memory: Tensor
  /** [1, frames, channels]: the state of the ODE. */
  readonly state: Tensor
}

/**
 * One midpoint step of every flow, each at its own place in its own plan.
 * @returns the new states, [1, frames, channels] each, which the caller frees
 */
export function stepFlows(
  network: VelocityNetwork,
  embedTime: EmbedTime,
  flows: readonly Flow[],
  strides: readonly Stride[],
): Tensor[] {
  return tf.tidy(() => {
    const frames = flows.map(({ state }) => state.shape[1]!)
    const conditions = {
      base: padRows(flows.map(({ base }) => base)),
      memory: padRows(flows.map(({ memory }) => memory)),
      frames: rowMask(frames, Math.max(...frames)),
      textKeys: wordKeys(flows.map(({ memory }) => memory.shape[1]!)),
    }
    const velocityAt = (state: Tensor, times: readonly number[]) =>
      tf.tidy(() => network.forward(state, embedTime(times), conditions))
    const next = midpointStep(velocityAt, padRows(flows.map(({ state }) => state)), strides)
    return flows.map((_, row) => tf.slice(next, [row, 0, 0], [1, frames[row]!, -1]))
  })
}

/** Rows [1, length, width] of one width, as a batch of the longest. */
function padRows(rows: readonly Tensor[]): Tensor {
  const longest = Math.max(...rows.map(({ shape }) => shape[1]!))
  return tf.concat(
    rows.map((row) =>
      row.shape[1] === longest
        ? row
        : pad(row, [
            [0, 0],
            [0, longest - row.shape[1]!],
            [0, 0],
          ]),
    ),
  )
}

/** What masks words that only pad a row, or null where none do. */
function wordKeys(words: readonly number[]): Tensor | null {
  return rowMask(words, Math.max(...words))?.keys ?? null
}
