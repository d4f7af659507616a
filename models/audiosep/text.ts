/** Turns prompts into conditions, with RoBERTa and its projection as in LAION's CLAP. */
import { loadBertLayers } from '../text/bert.ts'
import { loadLinear } from '../layers/layers.ts'
import { lastAxisNorm, tf, type Tensor } from '../tensorflow/tensor.ts'
import type { Weights } from '../checkpoint/weights.ts'
import type { TextSizes } from './config.ts'

/** RoBERTa's positions start in the row after the padding's, which is 1. */
const FIRST_POSITION = 2

/** Returns how many tokens it takes at most, including the start and end marks. */
export const tokensMax = ({ positions }: TextSizes): number => positions - FIRST_POSITION

/** @param weights of CLAP; those of its audio branch are not read */
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

  /** Pools by taking the first token: [batch, length, dim] to [batch, dim]. */
  const pool = (x: Tensor): Tensor =>
    tf.tidy(() => pooler(tf.slice(x, [0, 0, 0], [-1, 1, -1]).squeeze([1])).tanh())

  /** Projects [batch, dim] to [batch, jointDim]. */
  const project = (pooled: Tensor): Tensor => tf.tidy(() => outer(inner(pooled).relu()))

  /** Scales each row to length 1. */
  const normalize = (x: Tensor): Tensor => tf.tidy(() => x.div(lastAxisNorm(x).maximum(1e-12)))

  /** Embeds ids [batch, length] int32, with valid [batch, length] 1 or 0, as [batch, jointDim]. */
  const forward = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => normalize(project(pool(encode(ids, valid)))))

  return { embed, encode, pool, project, forward }
}
