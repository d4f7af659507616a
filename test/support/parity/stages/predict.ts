/**
 * Compares the spans predicted from a wave through the codec. Only the longest wave of the
 * reference's batch counts, because padding changed the features of the others.
 */
import { encodeWaves, loadCodec } from '../../../../models/sam-audio/codec/codec.ts'
import { hopOf, readConfig } from '../../../../models/sam-audio/config.ts'
import {
  loadSpanNetwork,
  loadSpanTokenizer,
  makeSpanPredictor,
  readSpanPredictorConfig,
} from '../../../../models/sam-audio/spans/span-predictor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { compareExactly, withTidy, type Comparison } from '../comparison.ts'
import type { Reference } from '../reference.ts'
import { TEXTS } from './separate.ts'

const FILE = 'span_predictor.json'
const NAME = 'predicted_anchors_in_separate'

type Anchor = [sign: '+' | '-', start: number, end: number]

export async function comparePredict(reference: Reference): Promise<Comparison[]> {
  const {
    config: { codec },
    checkpoint,
  } = await reference.part('model', readConfig)
  const spansPart = await reference.part('spans', readSpanPredictorConfig)
  const tokenizer = await loadSpanTokenizer(reference.folderOf('spans'))
  const golden = reference.golden('separate.safetensors')
  const { [NAME]: expected } = await reference.json<Record<typeof NAME, Anchor[][]>>(FILE)
  return withTidy(() => {
    const network = Weights.read(spansPart.checkpoint, (weights) =>
      loadSpanNetwork(weights, spansPart.config),
    )
    const { predict } = makeSpanPredictor(network, tokenizer)
    const { encoder } = loadCodec(Weights.open(checkpoint).at('audio_codec'), codec)
    const waves = golden.waves('audio', TEXTS.length)
    const lengths = waves.map(({ length }) => length)
    const longest = lengths.indexOf(Math.max(...lengths))
    const { features, rows } = encodeWaves(encoder, codec, [waves[longest]!])
    const clock = { sampleRate: codec.sampleRate, hop: hopOf(codec) }
    const [spans] = predict(features, rows, [TEXTS[longest]!], clock)
    const anchors = spans!.map(({ start, end }) => ['+', start, end])
    const against = `row ${longest}, the longest of the batch`
    return [{ ...compareExactly(FILE, NAME, anchors, expected[longest]!), against }]
  })
}
