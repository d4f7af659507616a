/** The sizes of a SAM-Audio model, from the `config.json` next to its checkpoint. */
import { readFile } from 'node:fs/promises'

/** How many tokens of a prompt the text encoders read, as in the reference. */
export const TOKENS_MAX = 512

/** Sizes of the codec, which turns samples into latent frames and back (DACVAE). */
export interface CodecConfig {
  /** Hertz. */
  sampleRate: number
  encoderDim: number
  encoderRates: readonly number[]
  latentDim: number
  decoderDim: number
  decoderRates: readonly number[]
  /** Channels of one feature stream. */
  codebookDim: number
}

/** Sizes of the flow network's transformer (DiT). */
export interface TransformerConfig {
  dim: number
  heads: number
  layers: number
  feedForwardDim: number
  /** How many frames a row may have. */
  positionsMax: number
  /** Size of the sinusoidal embedding of a time. */
  timeDim: number
  contextDim: number
}

export interface SamAudioConfig {
  codec: CodecConfig
  transformer: TransformerConfig
  textDim: number
  videoDim: number
  /** How many kinds of anchor there are, without the padding. */
  anchors: number
  anchorDim: number
}

/** Settings that all published checkpoints share; other values mean another network. */
const TRANSFORMER = {
  norm_eps: 1e-5,
  qk_norm: true,
  fc_bias: false,
  non_linearity: 'swiglu',
  use_rope: true,
  timestep_non_linearity: 'swiglu',
  t_block_non_linearity: 'silu',
  t_block_bias: true,
  context_non_linearity: 'swiglu',
  context_norm: false,
}

/** @throws Error naming the file if it describes a network that this code does not implement */
export const readConfig = async (file: string): Promise<SamAudioConfig> =>
  readConfigEntry(file, JSON.parse(await readFile(file, 'utf8')))

/**
 * Like `readConfig`, for the content of a file.
 * @param file the file that errors name
 */
export function readConfigEntry(
  file: string,
  config: ReturnType<typeof JSON.parse>,
): SamAudioConfig {
  const { audio_codec: codec, transformer } = config
  const features = 2 * codec.codebook_dim
  assertSettings(file, transformer, { ...TRANSFORMER, out_channels: features })
  assertSettings(file, config, { in_channels: 3 * features })
  return {
    codec: codecConfig(codec),
    transformer: {
      dim: transformer.dim,
      heads: transformer.n_heads,
      layers: transformer.n_layers,
      feedForwardDim: feedForwardDim(transformer),
      positionsMax: transformer.max_positions,
      timeDim: transformer.frequency_embedding_dim,
      contextDim: transformer.context_dim,
    },
    textDim: config.text_encoder.dim,
    videoDim: config.vision_encoder.dim,
    anchors: config.num_anchors,
    anchorDim: config.anchor_embedding_dim,
  }
}

/** @throws Error naming the file and the setting if it differs from what the code expects */
export function assertSettings(file: string, config: object, expected: object): void {
  const settings = config as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(expected)) {
    const setting = settings[name]
    if (setting !== value) throw new Error(`${file}: ${name} must be ${value}, not ${setting}`)
  }
}

/** The `audio_codec` of a config file, with its keys as in the file. */
interface CodecEntry {
  sample_rate: number
  encoder_dim: number
  encoder_rates: readonly number[]
  latent_dim: number
  decoder_dim: number
  decoder_rates: readonly number[]
  codebook_dim: number
}

export const codecConfig = (codec: CodecEntry): CodecConfig => ({
  sampleRate: codec.sample_rate,
  encoderDim: codec.encoder_dim,
  encoderRates: codec.encoder_rates,
  latentDim: codec.latent_dim,
  decoderDim: codec.decoder_dim,
  decoderRates: codec.decoder_rates,
  codebookDim: codec.codebook_dim,
})

/** A transformers codec (DacConfig), with its keys as in the file. */
interface DacEntry {
  sampling_rate: number
  encoder_hidden_size: number
  downsampling_ratios: readonly number[]
  hidden_size: number
  decoder_hidden_size: number
  codebook_dim: number
}

export const dacConfig = (codec: DacEntry): CodecConfig => ({
  sampleRate: codec.sampling_rate,
  encoderDim: codec.encoder_hidden_size,
  encoderRates: codec.downsampling_ratios,
  latentDim: codec.hidden_size,
  decoderDim: codec.decoder_hidden_size,
  decoderRates: [...codec.downsampling_ratios].reverse(),
  codebookDim: codec.codebook_dim,
})

/** Returns how many samples a latent frame has. */
export const hopOf = ({ encoderRates }: CodecConfig): number =>
  encoderRates.reduce((hop, rate) => hop * rate, 1)

/** Returns two thirds of the expansion, rounded up to a round number, as in Llama. */
function feedForwardDim(transformer: Record<string, number>): number {
  const { dim = 0, ffn_exp: expansion = 0, multiple_of: multiple = 1 } = transformer
  const twoThirds = Math.trunc((2 * expansion * dim) / 3)
  const scaled = Math.trunc((transformer.ffn_dim_multiplier ?? 1) * twoThirds)
  return multiple * Math.ceil(scaled / multiple)
}

/**
 * The base of rotary positions, as a key of its own or, since transformers 5, in `rope_parameters`.
 */
export interface RopeEntry {
  rope_parameters?: Readonly<Record<string, unknown>> | null
}

/**
 * Returns the base of rotary positions.
 * @param kind the kind of layer, if `rope_parameters` has one entry for each
 * @throws Error naming the file if neither key states it, or it is not a positive number
 */
export function ropeTheta(file: string, config: RopeEntry, key: string, kind?: string): number {
  const { rope_parameters: parameters } = config
  const entry = (kind ? parameters?.[kind] : parameters) as { rope_theta?: unknown } | undefined
  const theta = (config as Record<string, unknown>)[key] ?? entry?.rope_theta
  if (typeof theta === 'number' && theta > 0) return theta
  const place = `rope_parameters.${kind ? `${kind}.` : ''}rope_theta`
  throw new Error(`${file}: ${key} (or ${place}) must be a positive number, not ${theta}`)
}
