/** Embeds a time of the flow (TimestepEmbedder, t_block). */
import { loadLinear, silu } from '../../layers/layers.ts'
import { gatherRows, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { TransformerConfig } from '../config.ts'
import { loadFeedForward } from '../layers/feed-forward.ts'

/** The embeddings of the times of all rows of a batch. */
export interface TimeEmbedding {
  /** [batch, dim], for the last layer. */
  final: Tensor
  /** [batch, 6 · dim], for the blocks: shift, scale and gate of attention and feed-forward. */
  blocks: Tensor
  /** [batch, dim], to be added to the text encoder's states. */
  memory: Tensor
}

/** Embeds times in [0, 1], one for each row. */
export type EmbedTime = (times: readonly number[]) => TimeEmbedding

const LONGEST_PERIOD = 10_000

/** @param weights of the transformer; `t_embedder` and `t_block` are read */
export function loadTimeEmbedding(
  weights: Weights,
  { dim, timeDim }: TransformerConfig,
): EmbedTime {
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

/**
 * Returns `embed` for these times only, computed once.
 * @throws Error if called with another time
 */
export function tabulateEmbedding(embed: EmbedTime, times: readonly number[]): EmbedTime {
  const table = embed(times)
  const rowOf = new Map(times.map((time, row) => [time, row]))
  return (requestedTimes) => {
    const rows = requestedTimes.map((time) => {
      const row = rowOf.get(time)
      if (row === undefined) throw new Error(`the time ${time} is not in the table`)
      return row
    })
    const places = tf.tensor1d(rows, 'int32')
    const embeddings = {
      final: gatherRows(table.final, places),
      blocks: gatherRows(table.blocks, places),
      memory: gatherRows(table.memory, places),
    }
    places.dispose()
    return embeddings
  }
}

/** Returns cosines, then sines, of growing periods: [times, dim]. */
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
