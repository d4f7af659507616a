/**
 * Computes the conditions of the flow network for one chunk and prompt, meaning everything that
 * stays constant while the flow runs (SAMAudio.forward up to its transformer, AlignModalities,
 * EmbedAnchors).
 */
import { loadLayerNorm, loadLinear, project, readMatrix } from '../../layers/layers.ts'
import { gatherRows, tf, type Tensor } from '../../tensorflow/tensor.ts'
import type { Weights } from '../../checkpoint/weights.ts'
import { loadPointwise } from '../codec/convolution.ts'
import type { SamAudioConfig } from '../config.ts'

const VIDEO_EPSILON = 1e-5

/** @param weights of the whole model; `transformer` and `audio_codec` are not read */
export function loadConditions(weights: Weights, config: SamAudioConfig) {
  const {
    transformer: { dim, contextDim },
    codec: { codebookDim },
  } = config
  const projection = readProjection(weights.at('proj'), dim, codebookDim)
  const video = loadVideo(weights.at('align_masked_video'), config)
  const anchorTable = readAnchors(weights.at('embed_anchors'), config)
  const memory = loadLinear(weights.at('memory_proj'), config.textDim, contextDim)

  /**
   * Projects features [batch, frames, codebookDim] to their share of the network's input, [...,
   * dim].
   */
  const audio = (features: Tensor): Tensor =>
    tf.tidy(() => project(features, projection.features).add(projection.bias))

  /**
   * Embeds the anchor tokens [batch, frames] of all frames as their share, [batch, frames, dim].
   */
  const anchors = (tokens: Tensor): Tensor => tf.tidy(() => gatherRows(anchorTable, tokens))

  /**
   * Projects the flow's state [batch, frames, 2 · codebookDim] to its share, [batch, frames, dim].
   */
  const noisy = (state: Tensor): Tensor => project(state, projection.noisy)

  return { audio, video, anchors, noisy, memory }
}

/**
 * Reads the projection. The reference projects state, zeros and the features twice, side by side.
 * The columns for the zeros have no effect, and those for the features can be added up.
 */
function readProjection(weights: Weights, dim: number, codebookDim: number) {
  const stream = 2 * codebookDim
  const bias = weights.get('bias', [dim])
  const { noisy, features } = tf.tidy(() => {
    const matrix = readMatrix(weights, 3 * stream, dim) // [dim, 3 · stream]
    const columns = (start: number, count: number) => tf.slice(matrix, [0, start], [dim, count])
    const second = 2 * stream + codebookDim
    return {
      noisy: columns(0, stream),
      features: columns(2 * stream, codebookDim).add(columns(second, codebookDim)),
    }
  })
  return { noisy, features, bias }
}

/**
 * Loads the video's share of the input. `aligned` projects video [batch, frames, videoDim]. Without
 * video the reference takes zeros, but the norm of their bias is not zero, so every frame gets a
 * constant vector, `absent` [dim].
 */
function loadVideo(weights: Weights, { videoDim, transformer: { dim } }: SamAudioConfig) {
  const gate = tf.tidy(() => weights.get('gate', [1]).tanh())
  const convolve = loadPointwise(weights.at('conv'), videoDim, dim)
  const norm = loadLayerNorm(weights.at('layer_norm'), dim, VIDEO_EPSILON)
  const aligned = (video: Tensor): Tensor => tf.tidy(() => norm(convolve(video)).mul(gate))
  const absent = tf.tidy(() => aligned(tf.zeros([1, videoDim])).reshape([dim]))
  return { aligned, absent }
}

/** Returns the share of every anchor token, padding last: [anchors + 1, dim]. */
function readAnchors(weights: Weights, config: SamAudioConfig): Tensor {
  const {
    anchors,
    anchorDim,
    transformer: { dim },
  } = config
  return tf.tidy(() => {
    const gate = weights.get('gate', [1]).tanh()
    const embedded = weights.at('embed').get('weight', [anchors + 1, anchorDim])
    return project(embedded, readMatrix(weights.at('proj'), anchorDim, dim)).mul(gate)
  })
}
