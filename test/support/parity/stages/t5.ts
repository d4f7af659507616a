/** Compares T5, the prompt's encoder: every block, in a padded batch and with a long text. */
import { keyBias } from '../../../../models/layers/layers.ts'
import { loadT5, positionBucket, type T5 } from '../../../../models/sam-audio/text/t5.ts'
import { readT5Config } from '../../../../models/sam-audio/text/t5-config.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { compareExactly, withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'

/** The reference stores every 37th row of the long text's position bias. */
const BIAS_ROWS_APART = 37

const BUCKETS_FILE = 't5_buckets.json'

interface Buckets {
  rel_min: number
  rel_max: number
  buckets: number[]
}

export async function compareT5(reference: Reference): Promise<Comparison[]> {
  const { config, checkpoint } = await reference.part('text', readT5Config)
  const golden = reference.golden('t5.safetensors')
  const { rel_min: first, rel_max: last, buckets } = await reference.json<Buckets>(BUCKETS_FILE)
  const ours = Array.from({ length: last - first + 1 }, (_, i) => positionBucket(first + i, config))
  return withTidy(() => {
    const t5 = Weights.read(checkpoint, (weights) => loadT5(weights, config))
    return [
      compareExactly(BUCKETS_FILE, 'buckets', ours, buckets),
      ...compareBlocks(t5, golden),
      ...compareWhole(t5, golden),
    ]
  })
}

/** Compares each block, given the reference's input to it. */
function compareBlocks({ embed, positionBias, blocks, norm }: T5, golden: GoldenFile) {
  const ids = golden.tensor('input_ids')
  const bias = tf.tidy(() =>
    positionBias(ids.shape[1]!).add(keyBias(golden.tensor('attention_mask'))),
  )
  const [batch, heads, length] = golden.shape('position_bias_200') as [number, number, number]
  const rows = Array.from({ length }, (_, i) => i * BIAS_ROWS_APART)
  const far = tf.tidy(() =>
    tf
      .gather(positionBias(golden.shape('position_bias_200')[3]!), tf.tensor1d(rows, 'int32'), 2)
      .reshape([batch, heads, length, -1]),
  )
  const state = (i: number) => golden.tensor(`hidden_states.${i}`)
  const afterBlock = (i: number): Comparison => {
    const y = tf.tidy(() => blocks[i]!.forward(state(i), bias))
    const isLast = i === blocks.length - 1 // the last stored state is the one after the norm
    return golden.compare(`hidden_states.${i + 1}`, isLast ? tf.tidy(() => norm(y)) : y)
  }
  return [
    golden.compare('hidden_states.0', embed(ids)),
    golden.compare('position_bias', positionBias(ids.shape[1]!)),
    golden.compare('position_bias_200', far),
    golden.compare(
      'block0.attn_out',
      tf.tidy(() => blocks[0]!.attention(state(0), bias)),
    ),
    golden.compare(
      'block0.ff_out',
      tf.tidy(() => blocks[0]!.feedForward(golden.tensor('block0.attn_out'))),
    ),
    ...blocks.map((_, i) => afterBlock(i)),
  ]
}

function compareWhole({ forward }: T5, golden: GoldenFile): Comparison[] {
  const ids = golden.tensor('input_ids')
  const valid = golden.tensor('attention_mask')
  const long = golden.tensor('long.input_ids')
  return [
    golden.compare('last_hidden_state', forward(ids, valid), 'the padded batch'),
    ...alone(ids, valid).map(({ row, tokens }) => {
      const states = tf.tidy(() => forward(tokens, tf.onesLike(tokens)))
      return golden.compareRow('last_hidden_state', row, states, `row ${row} alone`)
    }),
    golden.compare(
      'long.last_hidden_state',
      tf.tidy(() => forward(long, tf.onesLike(long))),
    ),
  ]
}

/** Returns the rows of a batch without their padding. */
function alone(ids: Tensor, valid: Tensor): { row: number; tokens: Tensor }[] {
  const lengths = tf.tidy(() => valid.sum(1).arraySync() as number[])
  return lengths.map((length, row) => ({ row, tokens: tf.slice(ids, [row, 0], [1, length]) }))
}
