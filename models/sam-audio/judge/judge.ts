/** How good a separation is, by a network made to tell (SAMAudioJudge). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadLayerNorm, loadLinear, loadProjection, type Layer } from '../../layers.ts'
import { tf, type Tensor } from '../../tensor.ts'
import { TextTokenizer } from '../../text/tokenizer.ts'
import { Weights } from '../../checkpoint/weights.ts'
import { encodeWaves } from '../codec/codec.ts'
import { loadEncoder, TRANSFORMERS } from '../codec/encoder.ts'
import { frameMask } from '../codec/mask.ts'
import { codecConfig, dacConfig, TOKENS_MAX, type CodecConfig } from '../config.ts'
import { findCheckpoint } from '../checkpoint-folders.ts'
import { loadPeTransformer, peConfig, type PeConfig } from '../layers/pe-transformer.ts'
import { loadModernBert, modernBertConfig, type ModernBertConfig } from '../text/modern-bert.ts'

const NORM_EPSILON = 1e-5

/** What it tells of a separation, the higher the better, in the order of its outputs. */
export const SCORES = ['overall', 'recall', 'precision', 'faithfulness'] as const

export type JudgeScores = Readonly<Record<(typeof SCORES)[number], number>>

export interface JudgeConfig {
  codec: CodecConfig
  /** How configuration and weights call the codec: since it is in transformers, the second way. */
  codecName: 'audio_codec' | 'dac_vae_encoder'
  audio: PeConfig
  text: ModernBertConfig
  textLayers: number
  finetune: PeConfig
  bottleneckDim: number
}

export async function readJudgeConfig(file: string): Promise<JudgeConfig> {
  const config = JSON.parse(await readFile(file, 'utf8'))
  return {
    ...(config.audio_codec
      ? { codec: codecConfig(config.audio_codec), codecName: 'audio_codec' }
      : { codec: dacConfig(config.dac_vae_encoder), codecName: 'dac_vae_encoder' }),
    audio: peConfig(file, config.transformer),
    text: modernBertConfig(file, config.text_model),
    textLayers: config.nth_text_layer,
    finetune: peConfig(file, config.finetune_transformer),
    bottleneckDim: config.bottleneck_dim,
  }
}

export type JudgeNetwork = ReturnType<typeof loadJudgeNetwork>

/** @throws Error naming weights that are missing, misshapen or unread */
export function loadJudgeNetwork(weights: Weights, config: JudgeConfig) {
  const { codec, codecName, audio, finetune, bottleneckDim } = config
  const places = codecName === 'dac_vae_encoder' ? TRANSFORMERS : undefined
  const encoder = loadEncoder(weights.at(codecName), codec, places)
  weights.at(codecName).ignoreAll() // the decoder
  const project = loadLinear(weights.at('data_proj'), codec.codebookDim, audio.dim)
  const transformer = loadPeTransformer(weights.at('transformer'), audio)
  const joinAudio = loadLinear(weights.at('cat_audio_proj'), 2 * audio.dim, bottleneckDim)
  const { textModel, textLayersOut, embedText } = loadText(weights, config)
  const joinText = loadLinear(weights.at('proj_audio_and_text'), 2 * bottleneckDim, bottleneckDim)
  const finetuneProject = loadLinear(weights.at('finetune_data_proj'), bottleneckDim, finetune.dim)
  const finetuneTransformer = loadPeTransformer(weights.at('finetune_transformer'), finetune)
  const head = loadProjection(weights.at('head'), finetune.dim, SCORES.length)
  const mean = weights.get('mean', [SCORES.length])
  const spread = weights.get('std', [SCORES.length])
  weights.assertAllRead()

  /** heard [2 · batch, frames, dim], mixtures before separations; to [batch, frames, …]. */
  const joinHeard = (heard: Tensor): Tensor =>
    tf.tidy(() => {
      const [mixture, separated] = tf.split(heard, 2, 0) as [Tensor, Tensor]
      return joinAudio(tf.concat([separated, mixture], -1))
    })

  /** audio [batch, frames, bottleneckDim] and text [batch, bottleneckDim] to the audio's shape. */
  const joinSaid = (audioHeard: Tensor, said: Tensor): Tensor =>
    tf.tidy(() => {
      const everywhere = tf.tile(said.expandDims(1), [1, audioHeard.shape[1]!, 1])
      return joinText(tf.concat([audioHeard, everywhere], -1))
    })

  /** Of the real frames of each row: [batch, frames, scores] to [batch, scores]. */
  const pool = (scores: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => {
      const mask = frameMask(rows, scores.shape[1]!) ?? tf.scalar(1)
      const frames = tf.tensor2d([...rows], [rows.length, 1])
      return scores.mul(mask).sum(1).div(frames).mul(spread).add(mean)
    })

  /**
   * features [2 · batch, frames, codebookDim], mixtures before separations; said [batch, …];
   * `rows`: real frames of each mixture and its separation. To [batch, scores].
   */
  const forward = (features: Tensor, said: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => {
      const heard = transformer.forward(project(features), [...rows, ...rows])
      const joined = joinSaid(joinHeard(heard), said)
      return pool(head(finetuneTransformer.forward(finetuneProject(joined), rows)), rows)
    })

  return {
    encoder,
    project,
    transformer,
    joinHeard,
    textModel,
    textLayersOut,
    embedText,
    joinSaid,
    finetuneProject,
    finetuneTransformer,
    head,
    pool,
    forward,
  }
}

/** What encodes the prompt: the text model and the layers behind it. */
function loadText(weights: Weights, { audio, text, textLayers, bottleneckDim }: JudgeConfig) {
  const textModel = loadModernBert(weights.at('text_model'), text, textLayers, TOKENS_MAX)
  const textLayersOut: readonly Layer[] = [
    loadProjection(weights.at('text_proj1'), text.dim, audio.dim),
    loadLinear(weights.at('text_proj2'), audio.dim, bottleneckDim),
    loadLayerNorm(weights.at('layer_norm'), bottleneckDim, NORM_EPSILON),
  ]
  /** ids [batch, length] int32, valid [batch, length]; to [batch, bottleneckDim]. */
  const embedText = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => textLayersOut.reduce((x, layer) => layer(x), textModel.forward(ids, valid)))
  return { textModel, textLayersOut, embedText }
}

/** A mixture, what was separated from it, of the same length, and the prompt. */
export interface Verdict {
  mixture: Float32Array
  separated: Float32Array
  prompt: string
}

export type Judge = Awaited<ReturnType<typeof loadJudge>>

/** Loads `config.json`, the weights, `tokenizer.json` and `tokenizer_config.json`. */
export async function loadJudge(folder: string) {
  const config = await readJudgeConfig(join(folder, 'config.json'))
  const network = Weights.read(await findCheckpoint(folder), (weights) =>
    loadJudgeNetwork(weights, config),
  )
  const tokenizer = await TextTokenizer.load(folder, TOKENS_MAX)

  /** The scores of each; reads from the device. */
  const judge = (verdicts: readonly Verdict[]): JudgeScores[] => {
    const waves = [
      ...verdicts.map(({ mixture }) => mixture),
      ...verdicts.map(({ separated }) => separated),
    ]
    const scores = tf.tidy(() => {
      const { features, rows } = encodeWaves(network.encoder, config.codec, waves)
      const { ids, valid } = tokenizer.batch(verdicts.map(({ prompt }) => prompt))
      const said = network.embedText(ids, valid)
      return network.forward(features, said, rows.slice(0, verdicts.length))
    })
    const rows = scores.arraySync() as number[][]
    scores.dispose()
    return rows.map(
      (row) => Object.fromEntries(SCORES.map((name, i) => [name, row[i]!])) as JudgeScores,
    )
  }

  return { judge }
}
