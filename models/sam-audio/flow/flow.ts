/** Flows of any lengths and at any places stepped in one padded batch. */
import { tf, type Tensor } from '../../tensor.ts'
import { midpointStep, type Stride } from './ode.ts'
import { rowMask } from '../layers/row-mask.ts'
import type { TellTime } from './time-embedding.ts'
import type { VelocityNetwork } from './velocity.ts'

/** One chunk and prompt on their way from noise to sound. */
export interface Flow {
  /** [1, frames, dim]: what the network is told of the chunk. */
  readonly base: Tensor
  /** [1, words, contextDim]: what the text says. */
  readonly memory: Tensor
  /** [1, frames, channels]: where the flow is. */
  readonly state: Tensor
}

/**
 * One midpoint step of every flow, each at its own place in its own plan.
 * @returns the new states, [1, frames, channels] each, which the caller frees
 */
export function stepFlows(
  network: VelocityNetwork,
  embedTime: TellTime,
  flows: readonly Flow[],
  strides: readonly Stride[],
): Tensor[] {
  return tf.tidy(() => {
    const frames = flows.map(({ state }) => state.shape[1]!)
    const told = {
      base: padRows(flows.map(({ base }) => base)),
      memory: padRows(flows.map(({ memory }) => memory)),
      frames: rowMask(frames, Math.max(...frames)),
      textKeys: wordKeys(flows.map(({ memory }) => memory.shape[1]!)),
    }
    const velocityAt = (state: Tensor, times: readonly number[]) =>
      tf.tidy(() => network.forward(state, embedTime(times), told))
    const next = midpointStep(velocityAt, padRows(flows.map(({ state }) => state)), strides)
    return flows.map((_, row) => tf.slice(next, [row, 0, 0], [1, frames[row]!, -1]))
  })
}

/** Rows [1, length, width] of one width, as a batch of the longest. */
function padRows(rows: readonly Tensor[]): Tensor {
  const longest = Math.max(...rows.map(({ shape }) => shape[1]!))
  return tf.concat(
    rows.map((row) =>
      tf.pad(row, [
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
