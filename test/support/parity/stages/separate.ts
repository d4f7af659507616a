/**
 * Compares whole separations. Padding changes the result of shorter waves in the reference's batch,
 * so only the longest wave of that batch counts; waves that ran alone all count. Here they share a
 * batch.
 */
import { decodeLatents, encodeWaves } from '../../../../models/sam-audio/codec/codec.ts'
import { readConfig, TOKENS_MAX, type SamAudioConfig } from '../../../../models/sam-audio/config.ts'
import { stepFlows, type Flow } from '../../../../models/sam-audio/flow/flow.ts'
import { loadNetwork, type Network } from '../../../../models/sam-audio/network.ts'
import { planStrides } from '../../../../models/sam-audio/flow/ode.ts'
import { meanOf } from '../../../../models/sam-audio/sam-audio.ts'
import {
  loadTextEncoder,
  type TextEncoder,
} from '../../../../models/sam-audio/text/text-encoder.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'
import { loadWatermark, type Watermark } from '../watermark.ts'
import { readAnchors } from './velocity.ts'

/** The prompts of the reference's batch. */
export const TEXTS = ['man speaking', 'a dog barking loudly in the distance']

/** Of two channels, which the reference ran with its default number of steps. */
const STEREO = { prompt: 'a dog barking', steps: 16 }

interface Parts {
  config: SamAudioConfig
  network: Network
  watermark: Watermark
  textEncoder: TextEncoder
}

export async function compareSeparate(reference: Reference): Promise<Comparison[]> {
  const { config, checkpoint } = await reference.part('model', readConfig)
  const textEncoder = await loadTextEncoder(reference.folderOf('text'), TOKENS_MAX)
  const batched = reference.golden('separate.safetensors')
  const alone = reference.golden('separate_alone.safetensors')
  return withTidy(() => {
    const weights = Weights.open(checkpoint)
    const network = loadNetwork(weights, config)
    const watermark = loadWatermark(
      weights.at('audio_codec').at('decoder'),
      config.codec.decoderRates.length,
    )
    const parts = { config, network, watermark, textEncoder }
    return [
      ...casesOf(batched).flatMap((name) => compareCase(parts, name, batched, alone)),
      ...compareStereo(parts, batched),
    ]
  })
}

/** Lists cases such as `anchors.s32`: the conditioning, and twice the number of steps. */
const casesOf = (golden: GoldenFile): string[] =>
  golden.names.flatMap((name) => /^(\w+\.s\d+)\.target\.0$/.exec(name)?.slice(1) ?? [])

function compareCase(
  parts: Parts,
  name: string,
  batched: GoldenFile,
  alone: GoldenFile,
): Comparison[] {
  const [conditioning, twiceSteps] = name.split('.s') as [string, string]
  const tokens = tf.unstack(readAnchors(batched, `${conditioning}.`))
  const flows = TEXTS.map((prompt, row) =>
    beginFlow(parts, {
      wave: Float32Array.from(alone.values(`audio.${row}`)),
      prompt,
      tokens: tokens[row]!,
      noise: alone.tensor(`noise.${row}`),
    }),
  )
  const latents = flowToEnd(parts, flows, Number(twiceSteps) / 2)
  const frames = latents.map(({ shape }) => shape[1]!)
  const longest = frames.indexOf(Math.max(...frames))
  const against = `row ${longest}, the longest of the batch`
  const compareRow = (golden: GoldenFile, row: number, against: string): Comparison[] => {
    const messages = alone.tensor(`message.${row}`)
    return compareWaves(parts, { latent: latents[row]!, messages, row, name, against }, golden)
  }
  const stored = `${name}.latent`
  return [
    ...(batched.has(stored)
      ? [batched.compareRow(stored, longest, tf.transpose(latents[longest]!, [0, 2, 1]), against)]
      : []),
    ...compareRow(batched, longest, against),
    ...latents.flatMap((_, row) =>
      compareRow(alone, row, `row ${row} alone there, in company here`),
    ),
  ]
}

/** Compares two channels, which the reference ran in a batch of their own. */
function compareStereo(parts: Parts, golden: GoldenFile): Comparison[] {
  const channels = tf.unstack(golden.tensor('stereo.audio'))
  const noise = golden.tensor('stereo.noise')
  const flow = beginFlow(parts, {
    wave: meanOf(channels.map((channel) => channel.dataSync<'float32'>())),
    prompt: STEREO.prompt,
    tokens: tf.zeros([noise.shape[1]!], 'int32'),
    noise,
  })
  const [latent] = flowToEnd(parts, [flow], STEREO.steps) as [Tensor]
  const messages = tf.slice(golden.tensor('message'), [0, 0], [2, -1])
  const against = 'alone, as there'
  return compareWaves(parts, { latent, messages, row: 0, name: 'stereo', against }, golden)
}

interface DecodedTarget {
  latent: Tensor
  /** The messages in the watermarks of target and residual. */
  messages: Tensor
  row: number
  name: string
  against: string
}

/** Compares target and residual, with and without their watermark, if `golden` has them. */
function compareWaves(
  { config, network, watermark }: Parts,
  { latent, messages, row, name, against }: DecodedTarget,
  golden: GoldenFile,
): Comparison[] {
  const streams = tf.concat(tf.split(latent, 2, 2)) // [2, frames, codebookDim]
  const clean = decodeLatents(network.codec.decoder, config.codec, streams)
  const marked = watermark.forward(clean.expandDims(2), messages).squeeze([2])
  const waves = [...tf.unstack(marked), ...tf.unstack(clean)]
  const names = ['target', 'residual', 'target_no_watermark', 'residual_no_watermark']
  return names.flatMap((stream, i) => {
    const tensor = `${name}.${stream}.${row}`
    return golden.has(tensor) ? [golden.compare(tensor, waves[i]!, against)] : []
  })
}

interface FlowInputs {
  wave: Float32Array
  prompt: string
  /** Ids of the frames, [frames] int32; those of the padding are ignored. */
  tokens: Tensor
  noise: Tensor
}

function beginFlow({ config, network, textEncoder }: Parts, inputs: FlowInputs): Flow {
  const { conditions } = network.velocity
  const { features } = encodeWaves(network.codec.encoder, config.codec, [inputs.wave])
  const frames = features.shape[1]!
  const tokens = tf.slice(inputs.tokens, [0], [frames]).expandDims(0)
  return {
    base: conditions.audio(features).add(conditions.video.absent).add(conditions.anchors(tokens)),
    memory: conditions.memory(textEncoder.encode([inputs.prompt]).states),
    state: inputs.noise,
  }
}

function flowToEnd({ network }: Parts, flows: readonly Flow[], steps: number): Tensor[] {
  const { velocity } = network
  let current = [...flows]
  for (const stride of planStrides(steps)) {
    const states = stepFlows(
      velocity,
      velocity.transformer.embedTime,
      current,
      current.map(() => stride),
    )
    current = current.map((flow, i) => ({ ...flow, state: states[i]! }))
  }
  return current.map(({ state }) => state)
}
