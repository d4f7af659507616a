/** Estimates the scores of a separation with a network (SAMAudioJudge). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadLayerNorm, loadLinear, loadProjection, type Layer } from '../../layers/layers.ts'
import type { Precision } from '../../tensorflow/precision.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
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

/** The scores of a separation (higher is better), in the order of the network's outputs. */
export const SCORES = ['overall', 'recall', 'precision', 'faithfulness'] as const

export type JudgeScores = Readonly<Record<(typeof SCORES)[number], number>>

export interface JudgeConfig {
  codec: CodecConfig
  /** The codec's key in configuration and weights; the second one is that of transformers. */
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
  const { encoder, project, transformer, joinMixture } = loadAudio(weights, config)
  const { textModel, textLayersOut, embedText, joinText } = loadText(weights, config)
  const { finetuneProject, finetuneTransformer, head, pool } = loadScoring(weights, config)
  weights.assertAllRead()

  /**
   * Returns scores [batch, scores] for features [2 · batch, frames, codebookDim], mixtures before
   * separations, and text [batch, bottleneckDim]. `rows` holds the number of real frames of each
   * mixture and its separation.
   */
  const forward = (features: Tensor, text: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => {
      const encoded = transformer.forward(project(features), [...rows, ...rows])
      const joined = joinText(joinMixture(encoded), text)
      return pool(head(finetuneTransformer.forward(finetuneProject(joined), rows)), rows)
    })

  return {
    encoder,
    project,
    transformer,
    joinMixture,
    textModel,
    textLayersOut,
    embedText,
    joinText,
    finetuneProject,
    finetuneTransformer,
    head,
    pool,
    forward,
  }
}

/** Loads the encoder of mixtures and separations, and the layers that join the two. */
function loadAudio(weights: Weights, { codec, codecName, audio, bottleneckDim }: JudgeConfig) {
  const paths = codecName === 'dac_vae_encoder' ? TRANSFORMERS : undefined
  const encoder = loadEncoder(weights.at(codecName), codec, paths)
  weights.at(codecName).ignoreAll() // the decoder
  const project = loadLinear(weights.at('data_proj'), codec.codebookDim, audio.dim)
  const transformer = loadPeTransformer(weights.at('transformer'), audio)
  const join = loadLinear(weights.at('cat_audio_proj'), 2 * audio.dim, bottleneckDim)
  /** Joins encoded [2 · batch, frames, dim], mixtures before separations, to [batch, frames, …]. */
  const joinMixture = (encoded: Tensor): Tensor =>
    tf.tidy(() => {
      const [mixture, separated] = tf.split(encoded, 2, 0) as [Tensor, Tensor]
      return join(tf.concat([separated, mixture], -1))
    })
  return { encoder, project, transformer, joinMixture }
}

/** Loads the prompt encoder: the text model, the layers after it, and those that join the audio. */
function loadText(weights: Weights, { audio, text, textLayers, bottleneckDim }: JudgeConfig) {
  const textModel = loadModernBert(weights.at('text_model'), text, textLayers, TOKENS_MAX)
  const textLayersOut: readonly Layer[] = [
    loadProjection(weights.at('text_proj1'), text.dim, audio.dim),
    loadLinear(weights.at('text_proj2'), audio.dim, bottleneckDim),
    loadLayerNorm(weights.at('layer_norm'), bottleneckDim, NORM_EPSILON),
  ]
  const join = loadLinear(weights.at('proj_audio_and_text'), 2 * bottleneckDim, bottleneckDim)
  /** Embeds ids [batch, length] int32, with valid [batch, length], as [batch, bottleneckDim]. */
  const embedText = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => textLayersOut.reduce((x, layer) => layer(x), textModel.forward(ids, valid)))
  /**
   * Joins audio [batch, frames, bottleneckDim] and text [batch, bottleneckDim] in the audio's
   * shape.
   */
  const joinText = (encodedAudio: Tensor, encodedText: Tensor): Tensor =>
    tf.tidy(() => {
      const repeated = tf.tile(encodedText.expandDims(1), [1, encodedAudio.shape[1]!, 1])
      return join(tf.concat([encodedAudio, repeated], -1))
    })
  return { textModel, textLayersOut, embedText, joinText }
}

/** Loads the layers that score every frame and take the mean over frames. */
function loadScoring(weights: Weights, { finetune, bottleneckDim }: JudgeConfig) {
  const finetuneProject = loadLinear(weights.at('finetune_data_proj'), bottleneckDim, finetune.dim)
  const finetuneTransformer = loadPeTransformer(weights.at('finetune_transformer'), finetune)
  // Its products are the scores. With half the precision, many scores would be equal.
  const head = loadProjection(weights.at('head').in('float32'), finetune.dim, SCORES.length)
  const mean = weights.get('mean', [SCORES.length])
  const deviation = weights.get('std', [SCORES.length])
  /**
   * Takes the mean over the real frames of each row: [batch, frames, scores] to [batch, scores].
   */
  const pool = (scores: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => {
      const mask = frameMask(rows, scores.shape[1]!) ?? tf.scalar(1)
      const frames = tf.tensor2d([...rows], [rows.length, 1])
      return scores.mul(mask).sum(1).div(frames).mul(deviation).add(mean)
    })
  return { finetuneProject, finetuneTransformer, head, pool }
}

/** A mixture, its separation of the same length, and the prompt. */
export interface Verdict {
  mixture: Float32Array
  separated: Float32Array
  prompt: string
}

export type Judge = Awaited<ReturnType<typeof loadJudge>>

/**
 * Loads `config.json`, the weights, `tokenizer.json` and `tokenizer_config.json`.
 * @param precision of all products with its matrices except the last
 */
export async function loadJudge(folder: string, precision: Precision = 'float32') {
  const config = await readJudgeConfig(join(folder, 'config.json'))
  const network = Weights.read(await findCheckpoint(folder), (weights) =>
    loadJudgeNetwork(weights.in(precision), config),
  )
  const tokenizer = await TextTokenizer.load(folder, TOKENS_MAX)

  /** Scores every separation, in the order given. Reads from the device. */
  const judge = (verdicts: readonly Verdict[]): JudgeScores[] => {
    const waves = [
      ...verdicts.map(({ mixture }) => mixture),
      ...verdicts.map(({ separated }) => separated),
    ]
    const scores = tf.tidy(() => {
      const { features, rows } = encodeWaves(network.encoder, config.codec, waves)
      const { ids, valid } = tokenizer.batch(verdicts.map(({ prompt }) => prompt))
      const text = network.embedText(ids, valid)
      return network.forward(features, text, rows.slice(0, verdicts.length))
    })
    const rows = scores.arraySync() as number[][]
    scores.dispose()
    return rows.map(
      (row) => Object.fromEntries(SCORES.map((name, i) => [name, row[i]!])) as JudgeScores,
    )
  }

  return { judge }
}
