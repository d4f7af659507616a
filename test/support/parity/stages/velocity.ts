/** Compares one evaluation of the flow network: as a whole, in its variants, and part by part. */
import { keyBias, rmsNormalize } from '../../../../models/layers/layers.ts'
import { readConfig } from '../../../../models/sam-audio/config.ts'
import { rowMask, type RowMask } from '../../../../models/sam-audio/layers/row-mask.ts'
import { modulate } from '../../../../models/sam-audio/layers/transformer-block.ts'
import { loadVelocity, type VelocityNetwork } from '../../../../models/sam-audio/flow/velocity.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { Reference } from '../reference.ts'

export async function compareVelocity(reference: Reference): Promise<Comparison[]> {
  const { config, checkpoint } = await reference.part('model', readConfig)
  const golden = reference.golden('dit_forward.safetensors')
  return withTidy(() => {
    const network = loadVelocity(Weights.open(checkpoint), config)
    const inputs = readInputs(golden)
    return [
      ...compareWhole(network, inputs, golden),
      ...compareInput(network, inputs, golden),
      ...compareTransformer(network, inputs, golden),
      ...compareAttention(network, inputs, golden),
    ]
  })
}

interface Inputs {
  features: Tensor
  tokens: Tensor
  /** Like the reference, masks keys, but neither the norm nor the convolutions of the patcher. */
  leaking: RowMask
  masked: RowMask | null
  textKeys: Tensor
  longestRow: number
}

function readInputs(golden: GoldenFile): Inputs {
  const [batch, longest] = golden.shape('audio_pad_mask') as [number, number]
  const rows = golden.tensor('audio_pad_mask').sum(1).arraySync() as number[]
  const keys = keyBias(golden.tensor('audio_pad_mask')) // [batch, 1, 1, longest]
  const features = golden.tensor('audio_features') // [batch, longest, the same twice]
  return {
    features: tf.slice(features, [0, 0, 0], [-1, -1, features.shape[2]! / 2]),
    tokens: readAnchors(golden),
    leaking: { keys, valid: tf.ones([batch, longest, 1]), counts: tf.fill([batch, 1, 1], longest) },
    masked: rowMask(rows, longest),
    textKeys: keyBias(golden.tensor('text_mask')),
    longestRow: rows.indexOf(longest),
  }
}

/**
 * Looks up the id of every frame, by the frame's place in the ids of its row: [batch, frames]
 * int32.
 */
export function readAnchors(golden: GoldenFile, prefix = ''): Tensor {
  const ids = golden.tensor(`${prefix}anchor_ids`)
  const places = golden.tensor(`${prefix}anchor_alignment`).cast('int32')
  const rowOf = (ids: Tensor, i: number) => tf.gather(ids, tf.slice(places, [i, 0], [1, -1]))
  const rows = tf.unstack(ids).map(rowOf) // each [1, frames]
  return tf.concat(rows).cast('int32')
}

interface Variant {
  time?: string
  video?: 'none' | 'absent' | 'given'
  anchors?: boolean
  text?: boolean
  frames?: RowMask | null
}

function evaluate(
  { conditions, transformer, forward }: VelocityNetwork,
  inputs: Inputs,
  golden: GoldenFile,
  { time = 'time', video = 'absent', anchors = true, text = true, frames = null }: Variant,
): Tensor {
  const shares = [
    conditions.audio(inputs.features),
    ...(video === 'absent' ? [conditions.video.absent] : []),
    ...(video === 'given' ? [conditions.video.aligned(golden.turned('video_features'))] : []),
    ...(anchors ? [conditions.anchors(inputs.tokens)] : []),
  ]
  const memory = conditions.memory(golden.tensor('text_features'))
  return tf.tidy(() =>
    forward(golden.tensor('noisy_audio'), transformer.embedTime(Array.from(golden.values(time))), {
      base: shares.reduce((sum, share) => sum.add(share)),
      memory: text ? memory : tf.zeros([memory.shape[0], 1, memory.shape[2]!]),
      frames,
      textKeys: text && frames ? inputs.textKeys : null,
    }),
  )
}

function compareWhole(network: VelocityNetwork, inputs: Inputs, golden: GoldenFile): Comparison[] {
  const { leaking: frames, masked, longestRow } = inputs
  const bare = { video: 'none', anchors: false } as const
  const compare = (name: string, variant: Variant, against: string) =>
    golden.compare(name, evaluate(network, inputs, golden, variant), against)
  const leak = 'the padded batch, its padding leaking as there'
  const longest = tf.slice(
    evaluate(network, inputs, golden, { frames: masked }),
    [longestRow, 0, 0],
    [1, -1, -1],
  )
  const company = `row ${longestRow}, the longest, padding masked`
  return [
    compare('velocity', { frames }, leak),
    compare('velocity_time2', { frames, time: 'time2' }, leak),
    compare('velocity_video', { frames, video: 'given' }, leak),
    compare('velocity_plain', bare, 'the batch without masks'),
    compare('velocity_no_text', { ...bare, text: false }, 'the batch without masks'),
    golden.compareRow('velocity', longestRow, longest.clone(), company),
    golden.compare('velocity_item0_alone', longest, `${company}, with what it is alone`),
  ]
}

function compareInput(
  { conditions, transformer }: VelocityNetwork,
  inputs: Inputs,
  golden: GoldenFile,
): Comparison[] {
  const { final, blocks, memory } = transformer.embedTime(Array.from(golden.values('time')))
  const compare = (name: string, part: () => Tensor) => golden.compare(name, tf.tidy(part))
  return [
    compare('proj', () =>
      conditions.noisy(golden.tensor('noisy_audio')).add(conditions.audio(inputs.features)),
    ),
    compare('align_masked_video', () => golden.tensor('proj').add(conditions.video.absent)),
    compare('embed_anchors', () =>
      golden.tensor('align_masked_video').add(conditions.anchors(inputs.tokens)),
    ),
    compare('memory_proj', () => conditions.memory(golden.tensor('text_features'))),
    golden.compare('t_embedder', final),
    golden.compare('t_block', blocks),
    golden.compare('timestep_emb', memory),
  ]
}

/** Compares each part, given the reference's input to it. */
function compareTransformer(
  { transformer }: VelocityNetwork,
  inputs: Inputs,
  golden: GoldenFile,
): Comparison[] {
  const { patcher, blocks, embedMemory, crossMemories, finalGain } = transformer
  const [first, second] = patcher.blocks
  const compare = (name: string, part: () => Tensor) => golden.compare(name, tf.tidy(part))
  const compareTurned = (name: string, part: () => Tensor) =>
    golden.compareTurned(name, tf.tidy(part))
  const memories = crossMemories(golden.tensor('y_embedder'))
  const modulations = transformer.modulations(golden.tensor('t_block'))
  const rotaries = transformer.rotaries(golden.shape('noisy_audio')[1]!)
  const masks = { frameKeys: inputs.leaking.keys, textKeys: inputs.textKeys }
  const before = (i: number) =>
    i === 0 ? golden.turned('x_embedder') : golden.tensor(`layers.${i - 1}`)
  return [
    compareTurned('x_embedder.block1', () => first!(golden.tensor('embed_anchors'), null)),
    compareTurned('x_embedder.block2', () => second!(golden.turned('x_embedder.block1'), null)),
    compareTurned('x_embedder', () => patcher.forward(golden.tensor('embed_anchors'), null)),
    compare('y_embedder', () =>
      embedMemory(golden.tensor('memory_proj').add(golden.tensor('timestep_emb').expandDims(1))),
    ),
    ...blocks.map((block, i) =>
      compare(`layers.${i}`, () =>
        block.forward(before(i), modulations[i]!, rotaries[i]!, memories[i]!, masks),
      ),
    ),
    compare('norm', () => rmsNormalize(before(blocks.length)).mul(finalGain)),
  ]
}

/** Compares the first layer's attention, given the reference's input to it. */
function compareAttention(
  { transformer }: VelocityNetwork,
  inputs: Inputs,
  golden: GoldenFile,
): Comparison[] {
  const { attention } = transformer.blocks[0]!
  const [rotary] = transformer.rotaries(golden.shape('noisy_audio')[1]!)
  const { shift, scale } = transformer.modulations(golden.tensor('t_block'))[0]!.attention
  const modulated = modulate(golden.turned('x_embedder'), scale, shift)
  const { qk } = attention.projectHeads(modulated, rotary!)
  const [batch, heads, frames, width] = golden.shape('layers.0.attention.q_rope') as [
    number,
    number,
    number,
    number,
  ]
  /** Puts the two parts of every pair side by side again, and undoes the scale of the queries. */
  const asThere = (which: 0 | 1) =>
    tf.tidy(() =>
      tf
        .transpose(
          tf
            .slice(qk, [which], [1])
            .mul(which === 0 ? Math.sqrt(width) : 1)
            .reshape([batch, heads, frames, 2, width / 2]),
          [0, 1, 2, 4, 3],
        )
        .reshape([batch, heads, frames, width]),
    )
  return [
    golden.compare('layers.0.attention.q_rope', asThere(0)),
    golden.compare('layers.0.attention.k_rope', asThere(1)),
    golden.compare(
      'layers.0.attention',
      attention.forward(modulated, rotary!, inputs.leaking.keys),
    ),
  ]
}
