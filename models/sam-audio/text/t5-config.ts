/** The sizes of a T5 encoder, from the `config.json` of its folder. */
import { readFile } from 'node:fs/promises'
import { assertSettings } from '../config.ts'

export interface T5Config {
  vocabulary: number
  dim: number
  headDim: number
  heads: number
  hiddenDim: number
  layers: number
  epsilon: number
  /**
   * How many buckets there are for relative positions, and the distance from which all share the
   * last.
   */
  buckets: number
  distanceMax: number
}

/** @throws Error naming the file if it describes another kind of encoder */
export async function readT5Config(file: string): Promise<T5Config> {
  const config = JSON.parse(await readFile(file, 'utf8'))
  const activation = config.feed_forward_proj ?? 'relu'
  assertSettings(
    file,
    { ...config, feed_forward_proj: activation },
    { model_type: 't5', feed_forward_proj: 'relu' },
  )
  return {
    vocabulary: config.vocab_size,
    dim: config.d_model,
    headDim: config.d_kv,
    heads: config.num_heads,
    hiddenDim: config.d_ff,
    layers: config.num_layers,
    epsilon: config.layer_norm_epsilon,
    buckets: config.relative_attention_num_buckets,
    distanceMax: config.relative_attention_max_distance ?? 128,
  }
}
