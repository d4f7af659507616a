/** Predicts where in a mixture the prompted sound is (PEAudioFrame). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadLayerNorm, loadLinear, loadProjection, type Layer } from '../../layers/layers.ts'
import type { Span } from '../../model.ts'
import type { Precision } from '../../tensorflow/precision.ts'
import { tf, type Tensor } from '../../tensorflow/tensor.ts'
import { TextTokenizer } from '../../text/tokenizer.ts'
import { Weights } from '../../checkpoint/weights.ts'
import type { FrameClock } from './anchors.ts'
import { TOKENS_MAX } from '../config.ts'
import { findCheckpoint } from '../checkpoint-folders.ts'
import { loadPeTransformer, peConfig, type PeConfig } from '../layers/pe-transformer.ts'
import { loadModernBert, modernBertConfig, type ModernBertConfig } from '../text/modern-bert.ts'
import { findSpans } from './find-spans.ts'

const HEAD_EPSILON = 1e-6

export interface SpanPredictorConfig {
  /** Channels of a codec frame. */
  featureDim: number
  audio: PeConfig
  text: ModernBertConfig
  textLayers: number
  /** Width of the space in which sound and text are compared. */
  dim: number
}

export async function readSpanPredictorConfig(file: string): Promise<SpanPredictorConfig> {
  const config = JSON.parse(await readFile(file, 'utf8'))
  const { audio_model: audio, text_model: text } = config
  return {
    featureDim: audio.dac_vae_encoder.codebook_dim,
    audio: peConfig(file, audio.audio_transformer),
    text: modernBertConfig(file, text),
    textLayers: config.nth_text_layer,
    dim: config.output_dim,
  }
}

export type SpanNetwork = ReturnType<typeof loadSpanNetwork>

/** @throws Error naming weights that are missing, misshapen or unread */
export function loadSpanNetwork(weights: Weights, config: SpanPredictorConfig) {
  const { featureDim, audio, text, textLayers, dim } = config
  const audioWeights = weights.at('audio_model')
  const project = loadLinear(audioWeights.at('data_proj'), featureDim, audio.dim)
  const transformer = loadPeTransformer(audioWeights.at('audio_transformer'), audio)
  const textModel = loadModernBert(weights.at('text_model'), text, textLayers, TOKENS_MAX)
  const audioHead = loadHead(weights.at('audio_head'), audio.dim, dim)
  const textHead = loadHead(weights.at('text_head'), text.dim, dim)
  const scale = weights.get('logit_scale', [1])
  const bias = weights.get('logit_bias', [1])
  audioWeights.at('dac_vae_encoder').ignoreAll() // a copy of the codec, equal to the model's
  weights.assertAllRead()

  /** Embeds ids [batch, length] int32, with valid [batch, length], as [batch, dim]. */
  const embedText = (ids: Tensor, valid: Tensor): Tensor =>
    tf.tidy(() => textHead(textModel.forward(ids, valid)))

  /**
   * Embeds features [batch, frames, featureDim], with each row's number of real frames, as [batch,
   * frames, dim].
   */
  const embedAudio = (features: Tensor, rows: readonly number[]): Tensor =>
    tf.tidy(() => audioHead(transformer.forward(project(features), rows)))

  /** Returns similarity logits, [batch, frames]; their sigmoid is a score. */
  const logits = (encodedAudio: Tensor, encodedText: Tensor): Tensor =>
    tf.tidy(() => {
      // [batch, frames]
      const products = tf.matMul(encodedAudio, encodedText.expandDims(-1)).squeeze([-1])
      return products.mul(scale).add(bias)
    })

  return { project, transformer, textModel, embedText, embedAudio, logits }
}

function loadHead(weights: Weights, inDim: number, outDim: number): Layer {
  const norm = loadLayerNorm(weights.at('layer_norm'), inDim, HEAD_EPSILON)
  const project = loadProjection(weights.at('proj').in('float32'), inDim, outDim)
  return (x) => tf.tidy(() => project(norm(x)))
}

export type SpanPredictor = ReturnType<typeof makeSpanPredictor>

/**
 * Loads `config.json`, the weights, `tokenizer.json` and `tokenizer_config.json`.
 * @param precision of all products with its matrices except the last
 */
export async function loadSpanPredictor(
  folder: string,
  precision: Precision = 'float32',
): Promise<SpanPredictor> {
  const config = await readSpanPredictorConfig(join(folder, 'config.json'))
  const network = Weights.read(await findCheckpoint(folder), (weights) =>
    loadSpanNetwork(weights.in(precision), config),
  )
  return makeSpanPredictor(network, await loadSpanTokenizer(folder))
}

export const loadSpanTokenizer = (folder: string): Promise<TextTokenizer> =>
  TextTokenizer.load(folder, TOKENS_MAX)

export function makeSpanPredictor(network: SpanNetwork, tokenizer: TextTokenizer) {
  /**
   * Returns the spans of each row, in seconds. Reads from the device.
   * @param features [batch, frames, featureDim] of the codec
   * @param rows how many real frames each row has
   */
  const predict = (
    features: Tensor,
    rows: readonly number[],
    prompts: readonly string[],
    clock: FrameClock,
  ): Span[][] => {
    const scores = tf.tidy(() => {
      const { ids, valid } = tokenizer.batch(prompts)
      const encodedAudio = network.embedAudio(features, rows)
      return network.logits(encodedAudio, network.embedText(ids, valid)).sigmoid()
    })
    const flat = scores.dataSync<'float32'>()
    const frames = scores.shape[1]!
    scores.dispose()
    return rows.map((real, i) => findSpans(flat.subarray(i * frames, i * frames + real), clock))
  }

  return { predict }
}
