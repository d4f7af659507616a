/** The transformer of the flow network (DiT). */
import { compiled } from '../../graph/compiled.ts'
import type { Precision } from '../../tensorflow/precision.ts'
import { loadProjection } from '../../layers/layers.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import type { TransformerConfig } from '../config.ts'
import { loadCrossMemories } from '../layers/cross-attention.ts'
import { loadFeedForward } from '../layers/feed-forward.ts'
import { loadPatcher } from '../layers/patcher.ts'
import { makeRotary, withGain, type Rotary } from '../../layers/rotary.ts'
import type { RowMask } from '../layers/row-mask.ts'
import { loadTimeEmbedding, type TimeEmbedding } from './time-embedding.ts'
import {
  loadModulations,
  loadTransformerBlock,
  modulate,
  type TransformerBlock,
} from '../layers/transformer-block.ts'

export type Transformer = ReturnType<typeof loadTransformer>

export interface TransformerInput {
  /** [batch, frames, dim]. */
  x: Tensor
  /** [batch, length, dim]: text and time. */
  memory: Tensor
  time: TimeEmbedding
  frames: RowMask | null
  /** Mask of the text as keys, or null. */
  textKeys: Tensor | null
}

/**
 * @param features output channels
 * @param precision of the products that run at every evaluation; the embedding of time, the
 *   modulations and the output projection are float32
 * @throws Error naming a weight that is missing or misshapen
 */
export function loadTransformer(
  weights: Weights,
  config: TransformerConfig,
  features: number,
  precision: Precision = 'float32',
) {
  const { dim, positionsMax } = config
  const embedTime = loadTimeEmbedding(weights, config)
  const { patcher, embedMemory } = loadEmbedders(weights, config, precision)
  const { blocks, crossMemories, modulations } = loadBlocks(weights, config, precision)
  const rotaries = makeBlockRotaries(blocks, config)
  const finalGain = weights.at('norm').get('weight', [dim])
  const finalTable = weights.get('final_layer_scale_shift_table', [2, dim])
  const output = loadProjection(weights.at('output'), dim, features)

  /** Runs the input through the patcher and all blocks: [batch, frames, dim]. */
  const runBlocks = ({ x, memory, time, frames, textKeys }: TransformerInput): Tensor => {
    const turns = rotaries(x.shape[1]!)
    const memories = crossMemories(embedMemory(memory))
    const modulated = modulations(time.blocks)
    const masks = { frameKeys: frames?.keys ?? null, textKeys }
    let y = patcher.forward(x, frames)
    for (const [i, block] of blocks.entries()) {
      const next = block.forward(y, modulated[i]!, turns[i]!, memories[i]!, masks)
      y.dispose() // free at once; the tidy would keep it until its end
      y = next
    }
    return y
  }

  /** Returns [batch, frames, features]. */
  const forward = compiled((input: TransformerInput): Tensor =>
    tf.tidy(() => {
      checkFrames(input.x, positionsMax)
      const final = input.time.final.expandDims(1).add(finalTable) // [batch, 2, dim]
      const [shift, scale] = tf.split(final, 2, 1) as [Tensor, Tensor] // [batch, 1, dim]
      return output(modulate(runBlocks(input), scale.add(1).mul(finalGain), shift))
    }),
  )

  return {
    patcher,
    embedTime,
    embedMemory,
    crossMemories,
    modulations,
    rotaries,
    blocks,
    finalGain,
    forward,
  }
}

function loadEmbedders(
  weights: Weights,
  { dim, contextDim }: TransformerConfig,
  precision: Precision,
) {
  return {
    patcher: loadPatcher(weights.at('x_embedder').at('block'), dim),
    embedMemory: loadFeedForward(weights.at('y_embedder').at('projection').in(precision), {
      in: contextDim,
      hidden: dim,
      out: dim,
    }),
  }
}

/** Loads the blocks, and the projections that all blocks combine in one product each. */
function loadBlocks(weights: Weights, config: TransformerConfig, precision: Precision) {
  const { dim, heads, layers } = config
  const layerWeights = Array.from({ length: layers }, (_, i) =>
    weights.at('layers').at(i).in(precision),
  )
  const crossWeights = layerWeights.map((layer) => layer.at('cross_attention'))
  return {
    crossMemories: loadCrossMemories(crossWeights, dim, heads),
    blocks: layerWeights.map((layer) => loadTransformerBlock(layer, config)),
    modulations: loadModulations(layerWeights, dim),
  }
}

/**
 * Returns the tables times the gains of each block's self-attention, [2, 1, 1, frames, width] each.
 */
function makeBlockRotaries(
  blocks: readonly TransformerBlock[],
  { dim, heads, positionsMax }: TransformerConfig,
) {
  const rotaryOf = makeRotary(dim / heads, positionsMax)
  const gains = tf.tidy(() => tf.stack(blocks.map(({ attention }) => attention.gains)))
  return (frames: number): Rotary[] =>
    tf.tidy(() => {
      const { cos, sin } = withGain(rotaryOf(frames), gains) // [layers, 2, 1, 1, frames, width]
      const sines = tf.unstack(sin)
      return tf.unstack(cos).map((cosines, i) => ({ cos: cosines, sin: sines[i]! }))
    })
}

function checkFrames({ shape }: Tensor, positionsMax: number): void {
  if (shape[1]! > positionsMax) {
    throw new Error(`A row has at most ${positionsMax} frames, not ${shape[1]}`)
  }
}
