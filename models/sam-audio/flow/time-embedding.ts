/** A point of time in the flow as the network hears it (TimestepEmbedder, t_block). */
import { loadLinear, silu } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { TransformerConfig } from '../config.ts'
import { loadFeedForward } from '../layers/feed-forward.ts'

/** What each row of a batch is told of its time. */
export interface TimeEmbedding {
  /** [batch, dim], for the last layer. */
  final: Tensor
  /** [batch, 6 · dim], for the blocks: shift, scale and gate of attention and of feed-forward. */
  blocks: Tensor
  /** [batch, dim], added to what the text says. */
  memory: Tensor
}

/** From times in [0, 1], one of each row. */
export type TellTime = (times: readonly number[]) => TimeEmbedding

const LONGEST_PERIOD = 10_000

/** @param weights of the transformer: `t_embedder` and `t_block` are read */
export function loadTimeEmbedding(weights: Weights, { dim, timeDim }: TransformerConfig): TellTime {
  const embed = loadFeedForward(weights.at('t_embedder').at('projection'), {
    in: timeDim,
    hidden: dim,
    out: dim,
  })
  const toBlocks = loadLinear(weights.at('t_block'), dim, 6 * dim)
  return (times) => {
    const waves = sinusoids(times, timeDim) // [batch, timeDim]
    const final = embed(waves)
    const blocks = tf.tidy(() => toBlocks(silu(final)))
    waves.dispose()
    return { final, blocks, memory: sinusoids(times, dim) }
  }
}

/** The codes of given times are made once; what comes back finds them there. */
export function tabulated(tell: TellTime, times: readonly number[]): TellTime {
  const table = tell(times)
  const rowOf = new Map(times.map((time, row) => [time, row]))
  return (wanted) => {
    const rows = wanted.map((time) => {
      const row = rowOf.get(time)
      if (row === undefined) throw new Error(`the time ${time} is not in the table`)
      return row
    })
    const places = tf.tensor1d(rows, 'int32')
    const codes = {
      final: tf.gather(table.final, places),
      blocks: tf.gather(table.blocks, places),
      memory: tf.gather(table.memory, places),
    }
    places.dispose()
    return codes
  }
}

export const disposeTimeEmbedding = (codes: TimeEmbedding): void =>
  tf.dispose([codes.final, codes.blocks, codes.memory])

/** Cosines, then sines, of periods that grow: [times, dim]. */
function sinusoids(times: readonly number[], dim: number): Tensor {
  const half = dim / 2
  const values = new Float32Array(times.length * dim)
  for (const [row, time] of times.entries()) {
    for (let i = 0; i < half; i += 1) {
      const angle = time * LONGEST_PERIOD ** (-i / half)
      values[row * dim + i] = Math.cos(angle)
      values[row * dim + half + i] = Math.sin(angle)
    }
  }
  return tf.tensor2d(values, [times.length, dim])
}
