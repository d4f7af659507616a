/** Compares the judge: part by part with the reference's padding, then as a whole. */
import { encodeWaves } from '../../../../models/sam-audio/codec/codec.ts'
import { hopOf } from '../../../../models/sam-audio/config.ts'
import {
  loadJudgeNetwork,
  readJudgeConfig,
  type JudgeConfig,
  type JudgeNetwork,
} from '../../../../models/sam-audio/judge/judge.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'

/** The reference's transformers and codec process the padding; only its mean excludes it. */
const AS_THERE = 'as batched there, padding encoded'

export async function compareJudge(reference: Reference): Promise<Comparison[]> {
  const { config, checkpoint } = await reference.part('judge', readJudgeConfig)
  const golden = reference.golden('judge.safetensors')
  return withTidy(() => {
    const network = Weights.read(checkpoint, (weights) => loadJudgeNetwork(weights, config))
    return [
      ...compareHearing(network, golden),
      ...compareText(network, golden),
      ...compareVerdict(network, golden, config),
      ...compareWhole(network, golden, config),
    ]
  })
}

/** Returns the full length for every row, so that nothing is masked. */
const unmasked = (x: Tensor): number[] => Array.from({ length: x.shape[0] }, () => x.shape[1]!)

/** Drops the leading state, which stands for the whole. */
const framesOf = (states: Tensor): Tensor => tf.slice(states, [0, 1, 0], [-1, -1, -1])

function compareHearing(network: JudgeNetwork, golden: GoldenFile): Comparison[] {
  const { encoder, project, transformer, joinMixture } = network
  const samples = tf.concat(['input_values', 'separated_values'].map((name) => golden.turned(name)))
  const frames = golden.shape('audio_codec')[2]!
  const projected = golden.tensor('data_proj')
  return [
    golden.compareTurned('audio_codec', encoder.forward(samples, null, frames), AS_THERE),
    golden.compare('data_proj', project(golden.turned('audio_codec'))),
    golden.compare(
      'transformer.output',
      transformer.states(projected, unmasked(projected)),
      AS_THERE,
    ),
    golden.compare('cat_audio_proj', joinMixture(framesOf(golden.tensor('transformer.output')))),
  ]
}

function compareText({ textModel, textLayersOut, embedText }: JudgeNetwork, golden: GoldenFile) {
  const [first, second, norm] = textLayersOut
  const ids = golden.tensor('input_ids')
  const valid = golden.tensor('attention_mask')
  return [
    golden.compare('text_proj1', first!(textModel.forward(ids, valid))),
    golden.compare('text_proj2', second!(golden.tensor('text_proj1'))),
    golden.compare('layer_norm', norm!(golden.tensor('text_proj2'))),
    golden.compare('layer_norm', embedText(ids, valid), 'from the tokens'),
  ]
}

function compareVerdict(
  network: JudgeNetwork,
  golden: GoldenFile,
  config: JudgeConfig,
): Comparison[] {
  const { joinText, finetuneProject, finetuneTransformer, head, pool } = network
  const joined = joinText(golden.tensor('cat_audio_proj'), golden.tensor('layer_norm'))
  const projected = golden.tensor('finetune_data_proj')
  const states = finetuneTransformer.states(projected, unmasked(projected))
  return [
    golden.compare('proj_audio_and_text', joined),
    golden.compare('finetune_data_proj', finetuneProject(golden.tensor('proj_audio_and_text'))),
    golden.compare('finetune_transformer.output', states, AS_THERE),
    golden.compare('head', head(framesOf(golden.tensor('finetune_transformer.output')))),
    golden.compare('scores', pool(golden.tensor('head'), realFrames(golden, config))),
  ]
}

/** Counts the real frames of each row from the mask of its samples. */
function realFrames(golden: GoldenFile, { codec }: JudgeConfig): number[] {
  const samples = tf.tidy(() => golden.tensor('padding_mask').sum(1).arraySync() as number[])
  return samples.map((count) => count / hopOf(codec))
}

/**
 * Compares our way from waves to scores, where each row is masked and so gets the result it has
 * alone.
 */
function compareWhole(
  { encoder, embedText, forward }: JudgeNetwork,
  golden: GoldenFile,
  { codec }: JudgeConfig,
): Comparison[] {
  const batch = golden.shape('scores')[0]!
  const waves = ['input_audio', 'separated_audio'].map((name) => golden.waves(name, batch))
  const textEmbedding = embedText(golden.tensor('input_ids'), golden.tensor('attention_mask'))
  const judge = (rows: readonly number[]): Tensor =>
    tf.tidy(() => {
      const encoded = encodeWaves(
        encoder,
        codec,
        waves.flatMap((kind) => rows.map((row) => kind[row]!)),
      )
      const words = tf.gather(textEmbedding, tf.tensor1d([...rows], 'int32'))
      return forward(encoded.features, words, encoded.rows.slice(0, rows.length))
    })
  const all = Array.from({ length: batch }, (_, i) => i)
  const lengths = waves[0]!.map(({ length }) => length)
  const longest = lengths.indexOf(Math.max(...lengths))
  const together = tf.slice(judge(all), [longest, 0], [1, -1])
  return [
    golden.compareRow('scores', longest, together, `row ${longest}, the longest, in its batch`),
    golden.compare('scores_item0_alone', judge([0]), 'row 0 alone'),
  ]
}
