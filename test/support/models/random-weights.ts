/** Makes SAM-Audio checkpoints of any size with random weights, generated as they are read. */
import type { Scratch, StoredTensor } from '../../../models/checkpoint/stored-tensor.ts'
import type {
  CodecConfig,
  SamAudioConfig,
  TransformerConfig,
} from '../../../models/sam-audio/config.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'

export type Shapes = Record<string, readonly number[]>

/** Sizes of the published checkpoints. */
export const PUBLISHED_CODEC: CodecConfig = {
  sampleRate: 48_000,
  encoderDim: 64,
  encoderRates: [2, 8, 10, 12],
  latentDim: 1024,
  decoderDim: 1536,
  decoderRates: [12, 10, 8, 2],
  codebookDim: 128,
}

/** Returns weights of these shapes, scaled so that activations neither vanish nor explode. */
export function randomWeights(shapes: Shapes): Weights {
  const tensors = Object.entries(shapes).map(([name, shape]): [string, StoredTensor] => {
    const count = shape.reduce((product, size) => product * size, 1)
    const values = (scratch?: Scratch) => randomValues(name, shape, roomFor(count, scratch))
    return [name, { shape, type: 'F32', bytes: 4 * count, values }]
  })
  return Weights.of('random weights', new Map(tensors))
}

const roomFor = (count: number, scratch?: Scratch): Float32Array =>
  scratch?.widened(count) ?? new Float32Array(count)

/** A larger tensor repeats its first numbers, because generating billions would take minutes. */
const NUMBERS_MAX = 2 ** 20

function randomValues(name: string, shape: readonly number[], numbers: Float32Array): Float32Array {
  const count = numbers.length
  const gain = name.endsWith('weight_g')
    ? 0.5
    : /(norm\.weight|alpha|running_var)$/.test(name)
      ? 1
      : null
  const fanIn = shape.length > 1 ? count / shape[0]! : 1
  const scale = shape.length > 1 ? Math.sqrt(3 / fanIn) : 0.1
  let state = count >>> 0
  for (let i = 0; i < Math.min(count, NUMBERS_MAX); i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const uniform = state / 2 ** 31 - 1
    numbers[i] = gain === null ? scale * uniform : gain * (1 + 0.1 * uniform)
  }
  for (let i = NUMBERS_MAX; i < count; i *= 2) numbers.copyWithin(i, 0, i)
  return numbers
}

export function transformerShapes(config: TransformerConfig, features: number): Shapes {
  const { dim, heads, layers, feedForwardDim, timeDim, contextDim } = config
  const attention = (name: string): Shapes => ({
    ...each(['wq', 'wk', 'wv', 'wo'], (w) => ({ [`${name}.${w}.weight`]: [dim, dim] })),
    ...each(['q_norm', 'k_norm'], (norm) => ({ [`${name}.${norm}.weight`]: [dim / heads] })),
  })
  const patcher = (block: string): Shapes => ({
    ...linear(`x_embedder.block.${block}.groupnorm`, [dim], dim),
    ...linear(`x_embedder.block.${block}.project`, [dim, dim, 3], dim),
  })
  return {
    ...each(
      Array.from({ length: layers }, (_, i) => `layers.${i}`),
      (layer) => ({
        [`${layer}.scale_shift_table`]: [6, dim],
        [`${layer}.attention_norm.weight`]: [dim],
        [`${layer}.ffn_norm.weight`]: [dim],
        ...attention(`${layer}.attention`),
        ...attention(`${layer}.cross_attention`),
        ...gated(`${layer}.feed_forward`, dim, feedForwardDim, dim),
      }),
    ),
    ...patcher('block1'),
    ...patcher('block2'),
    ...gated('t_embedder.projection', timeDim, dim, dim),
    ...gated('y_embedder.projection', contextDim, dim, dim),
    ...linear('t_block', [6 * dim, dim], 6 * dim),
    final_layer_scale_shift_table: [2, dim],
    'norm.weight': [dim],
    'output.weight': [features, dim],
  }
}

/** Shapes of the codec, without the watermark, which a separation never reads. */
export function codecShapes(config: CodecConfig): Shapes {
  const { encoderDim, encoderRates, latentDim, decoderDim, decoderRates, codebookDim } = config
  const unit = (name: string, dim: number): Shapes => ({
    ...snake(`${name}.block.0`, dim),
    ...convolution(`${name}.block.1`, [dim, dim, 7], dim),
    ...snake(`${name}.block.2`, dim),
    ...convolution(`${name}.block.3`, [dim, dim, 1], dim),
  })
  const encoderBlock = (stride: number, i: number): Shapes => {
    const [name, dim] = [`encoder.block.${i + 1}.block`, encoderDim * 2 ** i]
    return {
      ...each([0, 1, 2], (place) => unit(`${name}.${place}`, dim)),
      ...snake(`${name}.3`, dim),
      ...convolution(`${name}.4`, [2 * dim, dim, 2 * stride], 2 * dim),
    }
  }
  const decoderBlock = (stride: number, i: number): Shapes => {
    const [name, dim] = [`decoder.model.${i + 1}.block`, decoderDim / 2 ** i]
    return {
      ...each([4, 5, 8], (place) => unit(`${name}.${place}`, dim / 2)),
      ...snake(`${name}.0`, dim),
      ...convolution(`${name}.1`, [dim, dim / 2, 2 * stride], dim / 2),
    }
  }
  const blocks = encoderRates.length
  const widest = encoderDim * 2 ** blocks
  const narrowest = decoderDim / 2 ** decoderRates.length
  const end = 'decoder.wm_model.encoder_block.pre'
  return {
    ...convolution('encoder.block.0', [encoderDim, 1, 7], encoderDim),
    ...each([...encoderRates.entries()], ([i, stride]) => encoderBlock(stride, i)),
    ...snake(`encoder.block.${blocks + 1}`, widest),
    ...convolution(`encoder.block.${blocks + 2}`, [latentDim, widest, 3], latentDim),
    ...convolution('quantizer.in_proj', [2 * codebookDim, latentDim, 1], 2 * codebookDim),
    ...convolution('quantizer.out_proj', [latentDim, codebookDim, 1], latentDim),
    ...convolution('decoder.model.0', [decoderDim, latentDim, 7], decoderDim),
    ...each([...decoderRates.entries()], ([i, stride]) => decoderBlock(stride, i)),
    ...snake(`${end}.0`, narrowest),
    ...convolution(`${end}.1`, [1, narrowest, 7], 1),
  }
}

/** Shapes of the flow network's conditioning, outside its transformer. */
export function conditionShapes({
  transformer: { dim, contextDim },
  ...config
}: SamAudioConfig): Shapes {
  const {
    codec: { codebookDim },
    textDim,
    videoDim,
    anchors,
    anchorDim,
  } = config
  return {
    ...linear('proj', [dim, 6 * codebookDim], dim),
    ...linear('memory_proj', [contextDim, textDim], contextDim),
    ...linear('align_masked_video.conv', [dim, videoDim, 1], dim),
    ...linear('align_masked_video.layer_norm', [dim], dim),
    'align_masked_video.gate': [1],
    'embed_anchors.gate': [1],
    'embed_anchors.embed.weight': [anchors + 1, anchorDim],
    'embed_anchors.proj.weight': [dim, anchorDim],
  }
}

/** Prefixes the names of shapes with a path, such as `transformer`. */
export const under = (path: string, shapes: Shapes): Shapes =>
  each(Object.entries(shapes), ([name, shape]) => ({ [`${path}.${name}`]: shape }))

const linear = (name: string, weight: readonly number[], out: number): Shapes => ({
  [`${name}.weight`]: weight,
  [`${name}.bias`]: [out],
})

const convolution = (name: string, kernel: readonly number[], out: number): Shapes => ({
  [`${name}.weight_v`]: kernel,
  [`${name}.weight_g`]: [kernel[0]!, 1, 1],
  [`${name}.bias`]: [out],
})

const snake = (name: string, dim: number): Shapes => ({ [`${name}.alpha`]: [1, dim, 1] })

const gated = (name: string, inDim: number, hiddenDim: number, outDim: number): Shapes => ({
  [`${name}.w1.weight`]: [hiddenDim, inDim],
  [`${name}.w3.weight`]: [hiddenDim, inDim],
  [`${name}.w2.weight`]: [outDim, hiddenDim],
})

const each = <T>(items: readonly T[], shapesOf: (item: T) => Shapes): Shapes =>
  Object.assign({}, ...items.map(shapesOf)) as Shapes
