/** Prompts to conditions: RoBERTa and its projection, as LAION's CLAP has them. */
import { loadBertLayers } from '../text/bert.ts'
import { loadLinear } from '../layers/layers.ts'
import { lastAxisNorm, tf, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'
import type { TextSizes } from './config.ts'

/** RoBERTa counts positions from the row after that of padding, which is 1. */
const FIRST_POSITION = 2

/** How many tokens it takes at most, the marks of beginning and end included. */
export const tokensMax = ({ positions }: TextSizes): number => positions - FIRST_POSITION

/** @param weights of CLAP: what of it belongs to sound isn't read */
export function loadTextEncoder(weights: Weights, sizes: TextSizes) {
  const { dim, jointDim } = sizes
  const branch = weights.at('text_branch')
  const { embed, encode } = loadBertLayers(branch, {
    ...sizes,
    firstPosition: FIRST_POSITION,
    types: branch.at('embeddings').at('token_type_embeddings').shapeOf('weight')[0]!,
    epsilon: 1e-5,
  })
  const pooler = loadLinear(branch.at('pooler').at('dense'), dim, dim)
  const inner = loadLinear(weights.at('text_projection').at(0), dim, jointDim)
  const outer = loadLinear(weights.at('text_projection').at(2), jointDim, jointDim)

  /** The first token's: [batch, length, dim] to [batch, dim]. */
  const pool = (x: Tensor): Tensor =>
    tf.tidy(() => pooler(tf.slice(x, [0, 0, 0], [-1, 1, -1]).squeeze([1])).tanh())

  /** [batch, dim] to [batch, jointDim]. */
  const project = (pooled: Tensor): Tensor => tf.tidy(() => outer(inner(pooled).relu()))

  /** Scales each row to length 1. */
  const normalize = (x: Tensor): Tensor => tf.tidy(() => x.div(lastAxisNorm(x).maximum(1e-12)))

  /** ids [batch, length] int32, valid [batch, length] 1 or 0; to [batch, jointDim]. */
  const forward = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => normalize(project(pool(encode(ids, valid)))))

  return { embed, encode, pool, project, forward }
}
