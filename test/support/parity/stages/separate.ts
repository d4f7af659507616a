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
import {
  loadTextEncoder,
  type TextEncoder,
} from '../../../../models/sam-audio/text/text-encoder.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'
import { readAnchors } from './velocity.ts'

/** The prompts of the reference's batch. */
export const TEXTS = ['man speaking', 'a dog barking loudly in the distance']

interface Parts {
  config: SamAudioConfig
  network: Network
  textEncoder: TextEncoder
}

export async function compareSeparate(reference: Reference): Promise<Comparison[]> {
  const { config, checkpoint } = await reference.part('model', readConfig)
  const textEncoder = await loadTextEncoder(reference.folderOf('text'), TOKENS_MAX)
  const batched = reference.golden('separate.safetensors')
  const alone = reference.golden('separate_alone.safetensors')
  return withTidy(() => {
    const parts = { config, network: loadNetwork(Weights.open(checkpoint), config), textEncoder }
    return casesOf(batched).flatMap((name) => compareCase(parts, name, batched, alone))
  })
}

/** Lists cases such as `anchors.s32`: the conditioning, and twice the number of steps. */
const casesOf = (golden: GoldenFile): string[] =>
  golden.names.flatMap((name) => /^(\w+\.s\d+)\.latent$/.exec(name)?.slice(1) ?? [])

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
  const latent = latents[longest]!
  return [
    batched.compareRow(`${name}.latent`, longest, tf.transpose(latent, [0, 2, 1]), against),
    ...compareWaves(parts, { latent, row: longest, name, against }, batched),
    ...latents.flatMap((latent, row) => {
      const against = `row ${row} alone there, in company here`
      return compareWaves(parts, { latent, row, name, against }, alone)
    }),
  ]
}

interface DecodedTarget {
  latent: Tensor
  row: number
  name: string
  against: string
}

/** Compares target and residual, if `golden` has them without their watermark. */
function compareWaves(
  { config, network }: Parts,
  { latent, row, name, against }: DecodedTarget,
  golden: GoldenFile,
): Comparison[] {
  const [target, residual] = ['target', 'residual'].map(
    (stream) => `${name}.${stream}_no_watermark.${row}`,
  ) as [string, string]
  if (!golden.has(target)) return []
  const streams = tf.concat(tf.split(latent, 2, 2)) // [2, frames, codebookDim]
  const waves = tf.unstack(decodeLatents(network.codec.decoder, config.codec, streams))
  return [golden.compare(target, waves[0]!, against), golden.compare(residual, waves[1]!, against)]
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
