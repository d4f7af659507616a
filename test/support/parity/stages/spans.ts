/**
 * Compares the span predictor: its two towers part by part, its scores, and the resulting spans.
 */
import { findSpans, THRESHOLD } from '../../../../models/sam-audio/spans/find-spans.ts'
import {
  loadSpanNetwork,
  readSpanPredictorConfig,
  type SpanNetwork,
} from '../../../../models/sam-audio/spans/span-predictor.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { compareExactly, withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'

const SPANS_FILE = 'span_predictor.json'

/** Row of the batch that the reference also ran without a mask, cut to its first frames. */
const UNMASKED_ROW = 1

type Pairs = readonly (readonly [start: number, end: number])[]

/** It also has `spans_threshold_0.5` and the like: the spans of every row, padding included. */
interface SpansFile {
  hop_length: number
  sampling_rate: number
  spans: Pairs[]
}

export async function compareSpans(reference: Reference): Promise<Comparison[]> {
  const { config, checkpoint } = await reference.part('spans', readSpanPredictorConfig)
  const golden = reference.golden('span_predictor.safetensors')
  const file = await reference.json<SpansFile>(SPANS_FILE)
  return withTidy(() => {
    const network = Weights.read(checkpoint, (weights) => loadSpanNetwork(weights, config))
    return [
      ...compareText(network, golden),
      ...compareAudio(network, golden),
      ...compareScores(network, golden, file),
    ]
  })
}

/** Counts the real frames of each row. */
function realFrames(golden: GoldenFile): number[] {
  return tf.tidy(() => golden.tensor('padding_mask').sum(1).arraySync() as number[])
}

/** Compares each layer, given the reference's input to it. */
function compareText({ textModel, embedText }: SpanNetwork, golden: GoldenFile): Comparison[] {
  const ids = golden.tensor('input_ids')
  const valid = golden.tensor('attention_mask')
  const surroundings = textModel.around(valid)
  return [
    golden.compare('text.hidden_states.0', textModel.embed(ids)),
    ...textModel.layers.map((layer, i) => {
      const y = tf.tidy(() => layer(golden.tensor(`text.hidden_states.${i}`), surroundings(i)))
      return golden.compareReal(`text.hidden_states.${i + 1}`, y, valid)
    }),
    golden.compare('text_embeds', embedText(ids, valid), 'the padded batch'),
  ]
}

function compareAudio({ project, transformer }: SpanNetwork, golden: GoldenFile): Comparison[] {
  const { patcher, layers, prepend, maskOf, norm, out, rotaryOf } = transformer
  const frames = golden.shape('audio.data_proj')[1]!
  const mask = maskOf(realFrames(golden), frames)
  const rotary = rotaryOf(frames + 1)
  const input = () => prepend(golden.tensor('audio.data_proj'))
  const before = (i: number) =>
    golden.tensor(i === 0 ? 'audio.embeddings' : `audio.layers.${i - 1}`)
  const compare = (name: string, part: () => Tensor) => golden.compare(name, tf.tidy(part))
  return [
    compare('audio.data_proj', () => project(golden.tensor('input_features'))),
    golden.compareTurned(
      'audio.resnet.block1',
      tf.tidy(() => patcher.blocks[0]!(input(), mask)),
    ),
    compare('audio.embeddings', () => patcher.forward(input(), mask)),
    ...layers.map((layer, i) =>
      compare(`audio.layers.${i}`, () => layer(before(i), rotary, mask?.keys ?? null)),
    ),
    compare('audio.norm', () => norm(before(layers.length))),
    compare('audio.output', () => out(golden.tensor('audio.norm'))),
  ]
}

function compareScores(
  { embedAudio, embedText, logits }: SpanNetwork,
  golden: GoldenFile,
  file: SpansFile,
): Comparison[] {
  const features = golden.tensor('input_features')
  const frames = golden.shape('nomask.audio_embeds')[1]!
  const rows = realFrames(golden)
  const encodedText = embedText(golden.tensor('input_ids'), golden.tensor('attention_mask'))
  const encodedAudio = embedAudio(features, rows)
  const row = UNMASKED_ROW
  const alone = embedAudio(tf.slice(features, [row, 0, 0], [1, frames, -1]), [frames])
  const scores = tf.tidy(() => logits(encodedAudio, encodedText).sigmoid())
  const scoresAlone = tf.tidy(() =>
    logits(alone, tf.slice(encodedText, [row, 0], [1, -1])).sigmoid(),
  )
  return [
    ...compareFound(scores, scoresAlone, file),
    golden.compare('nomask.audio_embeds', alone, `row ${row}, ${frames} frames, alone`),
    golden.compare('logits', logits(encodedAudio, encodedText), 'the padded batch'),
    golden.compare('audio_embeds', encodedAudio, 'the padded batch'),
    golden.compare('probs', scores, 'the padded batch'),
  ]
}

function compareFound(scores: Tensor, scoresAlone: Tensor, file: SpansFile): Comparison[] {
  const clock = { hop: file.hop_length, sampleRate: file.sampling_rate }
  const pairsOf = (row: number[], threshold: number) =>
    findSpans(row, clock, threshold).map(({ start, end }) => [start, end])
  return Object.entries(file).flatMap(([name, expected]) => {
    if (!/spans/.test(name)) return []
    const threshold = Number(/^spans_threshold_(.*)$/.exec(name)?.[1] ?? THRESHOLD)
    const isAlone = name.startsWith('nomask')
    const rows = (isAlone ? scoresAlone : scores).arraySync() as number[][]
    const found = rows.map((row) => pairsOf(row, threshold))
    const against = isAlone ? 'a row alone' : 'the padded batch, spans of its padding too'
    return [{ ...compareExactly(SPANS_FILE, name, found, expected as Pairs[]), against }]
  })
}
