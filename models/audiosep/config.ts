/** The sizes of AudioSep, from the shapes of its weights. */
import type { Weights } from '../checkpoint/weights.ts'
import type { BertSizes } from '../text/bert.ts'

export interface AudioSepConfig {
  /** Sample rate in hertz, as stated in the configuration next to the checkpoint. */
  sampleRate: number
  /** Window length in samples, and the hop from one window to the next. */
  window: number
  hop: number
  /** Channels after each encoder, starting with the first. */
  channels: readonly number[]
  conditionDim: number
  text: TextSizes
}

export type TextSizes = Omit<BertSizes, 'firstPosition' | 'types' | 'epsilon'> & {
  /** Width of the embedding that conditions the network. */
  jointDim: number
}

const ENCODERS = 6
/** A window is 6.4 hops long (2,048 and 320 samples). No file states the hop. */
const HOPS_PER_WINDOW = 32 / 5
/** Width of an attention head of RoBERTa. */
const HEAD_DIM = 64

interface StatedConfig {
  sampleRate: number
  /** Heads of the text encoder (default: as many as give RoBERTa's head width). */
  textHeads?: number
}

/** @throws Error naming a missing weight */
export function readAudioSepConfig(
  weights: Weights,
  { sampleRate, textHeads }: StatedConfig,
): AudioSepConfig {
  const base = weights.at('ss_model').at('base')
  const [bins = 0] = base.at('bn0').shapeOf('weight')
  const window = 2 * (bins - 1)
  const film = weights.at('ss_model').at('film').at('encoder_block1->conv_block1->beta1')
  return {
    sampleRate,
    window,
    hop: Math.round(window / HOPS_PER_WINDOW),
    channels: Array.from(
      { length: ENCODERS },
      (_, i) =>
        base
          .at(`encoder_block${i + 1}`)
          .at('conv_block1')
          .at('conv2')
          .shapeOf('weight')[0]!,
    ),
    conditionDim: film.shapeOf('weight')[1]!,
    text: textSizesOf(weights.at('query_encoder').at('model'), textHeads),
  }
}

function textSizesOf(weights: Weights, heads: number | undefined): TextSizes {
  const branch = weights.at('text_branch')
  const embeddings = branch.at('embeddings')
  const [vocabulary = 0, dim = 0] = embeddings.at('word_embeddings').shapeOf('weight')
  const layers = branch.at('encoder').at('layer')
  let count = 0
  while (layers.has(`${count}.output.dense.weight`)) count += 1
  return {
    dim,
    hiddenDim: layers.at(0).at('intermediate').at('dense').shapeOf('weight')[0]!,
    layers: count,
    heads: heads ?? defaultHeads(dim),
    vocabulary,
    positions: embeddings.at('position_embeddings').shapeOf('weight')[0]!,
    jointDim: weights.at('text_projection').at(2).shapeOf('weight')[0]!,
  }
}

function defaultHeads(dim: number): number {
  if (dim > 0 && dim % HEAD_DIM === 0) return dim / HEAD_DIM
  throw new Error(
    `AudioSep's text encoder is ${dim} numbers wide, which is no multiple of ${HEAD_DIM}: ` +
      'give its config.json, which states num_attention_heads',
  )
}
