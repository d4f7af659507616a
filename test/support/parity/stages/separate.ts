/**
 * Compares whole separations. Padding changes the result of shorter waves in the reference's batch,
 * so only the longest wave of that batch counts; waves that ran alone all count. Here they share a
 * batch.
 */
import { anchorTokens, type FrameClock } from '../../../../models/sam-audio/spans/anchors.ts'
import { decodeLatents, encodeWaves, frameCount } from '../../../../models/sam-audio/codec/codec.ts'
import { loadWatermark, type Watermark } from '../watermark.ts'
import {
  hopOf,
  readConfig,
  TOKENS_MAX,
  type SamAudioConfig,
} from '../../../../models/sam-audio/config.ts'
import { stepFlows, type Flow } from '../../../../models/sam-audio/flow/flow.ts'
import { loadNetwork, type Network } from '../../../../models/sam-audio/network.ts'
import { planStrides } from '../../../../models/sam-audio/flow/ode.ts'
import {
  loadTextEncoder,
  type TextEncoder,
} from '../../../../models/sam-audio/text/text-encoder.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import type { Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Anchor, Inputs, SeparateInputs } from '../inputs.ts'
import type { Reference } from '../reference.ts'
import { readAnchors } from './velocity.ts'

/** The reference's default, for the case that is stored without its step size. */
const STEPS = 16

interface Parts {
  config: SamAudioConfig
  network: Network
  watermark: Watermark
  textEncoder: TextEncoder
  inputs: SeparateInputs
}

export async function prepareSeparate(reference: Reference): Promise<() => Comparison[]> {
  const { config, checkpoint } = await reference.part('model', readConfig)
  const textEncoder = await loadTextEncoder(reference.folderOf('text'), TOKENS_MAX)
  const batched = reference.golden('separate.safetensors')
  const alone = reference.golden('separate_alone.safetensors')
  const inputs = reference.inputs.separate
  checkInputs(reference.inputs, config, batched)
  return () => {
    const weights = Weights.open(checkpoint)
    const network = loadNetwork(weights, config)
    const watermark = loadWatermark(
      weights.at('audio_codec').at('decoder'),
      config.codec.decoderRates.length,
    )
    const parts = { config, network, watermark, textEncoder, inputs }
    return [
      ...casesOf(batched).flatMap((name) => compareCase(parts, name, batched, alone)),
      ...compareStereo(parts, batched),
    ]
  }
}

/** @throws Error naming an input that differs from the one the stored results were made with */
function checkInputs(
  { sample_rate: sampleRate, hop, separate }: Inputs,
  { codec }: SamAudioConfig,
  golden: GoldenFile,
): void {
  const { texts, lengths, steps, anchors } = separate
  golden.waves('audio', texts.length, lengths)
  const stored = sorted(casesOf(golden).map((name) => Number(name.split('.s')[1])))
  if (steps && String(stored) !== String(sorted(steps))) {
    throw new Error(
      `separate.safetensors has cases of ${stored} evaluations, but the ` +
        `manifest's inputs.separate.steps are ${steps}`,
    )
  }
  const clock = { sampleRate: codec.sampleRate, hop: hopOf(codec) }
  if ((sampleRate ?? clock.sampleRate) !== clock.sampleRate || (hop ?? clock.hop) !== clock.hop) {
    throw new Error(
      `the model has ${clock.sampleRate} samples in a second and ${clock.hop} in a ` +
        `frame, the manifest's inputs ${sampleRate} and ${hop}`,
    )
  }
  if (anchors && lengths) checkAnchors(anchors, lengths, clock, golden)
}

const sorted = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((a, b) => a - b)

function checkAnchors(
  anchors: readonly (readonly Anchor[])[],
  lengths: readonly number[],
  clock: FrameClock,
  golden: GoldenFile,
): void {
  const stored = tf.tidy(() => readAnchors(golden, 'anchors.').arraySync() as number[][])
  for (const [row, list] of anchors.entries()) {
    const spans = list.map(([sign, start, end]) => ({ start, end, include: sign === '+' }))
    const tokens = [...anchorTokens(spans, frameCount(lengths[row]!, clock.hop), clock)]
    if (String(tokens) === String(stored[row]!.slice(0, tokens.length))) continue
    throw new Error(
      `separate.safetensors: row ${row} of the anchors is not what the manifest's ` +
        'inputs.separate.anchors make',
    )
  }
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
  const flows = parts.inputs.texts.map((prompt, row) =>
    beginFlow(parts, {
      wave: monoWave(alone.tensor(`audio.${row}`)),
      prompt,
      tokens: tokens[row]!,
      noise: alone.tensor(`noise.${row}`),
    }),
  )
  const latents = flowToEnd(parts, flows, Number(twiceSteps) / 2)
  const frames = latents.map(({ shape }) => shape[1]!)
  const longest = frames.indexOf(Math.max(...frames))
  const messages = alone.tensor(`message.${longest}`)
  const against = `row ${longest}, the longest of the batch`
  const hasLatent = batched.has(`${name}.latent`)
  return [
    ...(hasLatent
      ? [
          batched.compareRow(
            `${name}.latent`,
            longest,
            tf.transpose(latents[longest]!, [0, 2, 1]),
            against,
          ),
        ]
      : []),
    ...compareWaves(
      parts,
      { latent: latents[longest]!, messages, row: longest, name, against },
      batched,
    ),
    ...latents.flatMap((latent, row) =>
      compareWaves(
        parts,
        {
          latent,
          messages: alone.tensor(`message.${row}`),
          row,
          name,
          against: `row ${row} alone there, in company here`,
        },
        alone,
      ),
    ),
  ]
}

/** Compares the mean of two channels, which the reference ran in a batch of its own. */
function compareStereo(parts: Parts, golden: GoldenFile): Comparison[] {
  const wave = monoWave(golden.tensor('stereo.audio'))
  const noise = golden.tensor('stereo.noise')
  const tokens = tf.zeros([noise.shape[1]!], 'int32')
  const flow = beginFlow(parts, { wave, prompt: parts.inputs.stereo_text, tokens, noise })
  const [latent] = flowToEnd(parts, [flow], STEPS)
  const messages = tf.slice(golden.tensor('message'), [0, 0], [2, -1])
  const inputs = { latent: latent!, messages, row: 0, name: 'stereo', against: 'alone, as there' }
  return compareWaves(parts, inputs, golden)
}

interface DecodedTarget {
  latent: Tensor
  /** Marks of target and residual. */
  messages: Tensor
  row: number
  name: string
  against: string
}

/** Compares target and residual, with and without their mark, if `golden` has them. */
function compareWaves(
  { config, network, watermark }: Parts,
  { latent, messages, row, name, against }: DecodedTarget,
  golden: GoldenFile,
): Comparison[] {
  const streams = tf.concat(tf.split(latent, 2, 2)) // [2, frames, codebookDim]
  const clean = decodeLatents(network.codec.decoder, config.codec, streams)
  const marked = tf.tidy(() => watermark.forward(clean.expandDims(2), messages).squeeze([2]))
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

/** Averages the channels of [channels, samples]. */
const monoWave = (audio: Tensor): Float32Array => {
  const mean = tf.tidy(() => audio.mean(0))
  const wave = mean.dataSync<'float32'>()
  mean.dispose()
  return Float32Array.from(wave)
}
