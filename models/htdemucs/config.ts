/** The sizes of an HTDemucs network, from the keyword arguments in its checkpoint. */

/** HTDemucs of facebookresearch/demucs, limited to where its published networks differ. */
export interface HTDemucsConfig {
  /** Names of the stems, in the order of the outputs. */
  sources: readonly string[]
  /** Hertz. */
  sampleRate: number
  /** Samples per segment; the network takes exactly this many. */
  segmentSamples: number
  audioChannels: number
  /** Channels after the first encoder; each further encoder doubles them. */
  channels: number
  depth: number
  /** Samples per window; the hop is a quarter of it. */
  window: number
  /** The width of the residual layers is the number of channels divided by this. */
  residualCompression: number
  residualDepth: number
  /** Width of the transformer; 0 if it equals the channels of the last encoder. */
  bottomChannels: number
  transformerLayers: number
  heads: number
  /** Width of the feed-forward layers, as a multiple of the transformer's width. */
  hiddenScale: number
  maxPeriod: number
  /** Scale of the frequency embedding that is added after the first encoder. */
  frequencyEmbedding: number
  embeddingScale: number
}

/** Arguments that have the same value in all published networks; other values are refused. */
const FIXED: Readonly<Record<string, unknown>> = {
  channels_time: null,
  growth: 2,
  wiener_iters: 0,
  end_iters: 0,
  wiener_residual: false,
  cac: true,
  rewrite: true,
  multi_freqs: [],
  kernel_size: 8,
  stride: 4,
  context: 1,
  context_enc: 0,
  dconv_mode: 3,
  t_layer_scale: true,
  t_gelu: true,
  t_emb: 'sin',
  t_weight_pos_embed: 1,
  t_norm_in: true,
  t_norm_in_group: false,
  t_group_norm: false,
  t_norm_first: true,
  t_norm_out: true,
  t_sparse_self_attn: false,
  t_sparse_cross_attn: false,
  t_cross_first: false,
}

/** Upper limit for channels, depths and similar sizes; published ones are far smaller. */
const SIZE_MAX = 65_536

/**
 * @param kwargs of the constructor, with `segment` in seconds as a fraction such as '39/5'
 * @throws Error naming an argument that is missing or has an unsupported value
 */
export function readHTDemucsConfig(kwargs: Readonly<Record<string, unknown>>): HTDemucsConfig {
  for (const [name, value] of Object.entries(FIXED)) {
    if (JSON.stringify(kwargs[name]) !== JSON.stringify(value)) {
      throw new Error(
        `HTDemucs with ${name} ${text(kwargs[name])} is not supported, only ${text(value)}`,
      )
    }
  }
  const size = (name: string, least = 1) => sizeOf(name, kwargs[name], least)
  const sampleRate = size('samplerate')
  const depth = size('depth')
  if (size('norm_starts') < depth)
    throw new Error('HTDemucs with norms in its encoders is not supported')
  return {
    sources: sourcesOf(kwargs.sources),
    sampleRate,
    segmentSamples: segmentSamplesOf(kwargs.segment, sampleRate),
    audioChannels: size('audio_channels'),
    channels: size('channels'),
    depth,
    window: size('nfft'),
    residualCompression: size('dconv_comp'),
    residualDepth: size('dconv_depth'),
    bottomChannels: size('bottom_channels', 0),
    transformerLayers: size('t_layers'),
    heads: size('t_heads'),
    hiddenScale: size('t_hidden_scale'),
    maxPeriod: size('t_max_period'),
    frequencyEmbedding: numberOf('freq_emb', kwargs.freq_emb),
    embeddingScale: numberOf('emb_scale', kwargs.emb_scale),
  }
}

function sizeOf(name: string, value: unknown, least: number): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= SIZE_MAX) {
    return value as number
  }
  throw new Error(
    `HTDemucs needs ${name} to be a whole number from ${least} to ${SIZE_MAX}, not ${text(value)}`,
  )
}

function numberOf(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new Error(`HTDemucs needs ${name} to be a number, not ${text(value)}`)
}

const SOURCES_MAX = 16

function sourcesOf(value: unknown): string[] {
  const names = Array.isArray(value) ? value.slice(0, SOURCES_MAX + 1) : []
  const areNames = names.every(
    (name) => typeof name === 'string' && /^[a-z0-9_ -]{1,40}$/.test(name),
  )
  if (names.length > 0 && names.length <= SOURCES_MAX && areNames) return names
  throw new Error(
    `HTDemucs needs sources to be 1 to ${SOURCES_MAX} names of stems, not ${text(value)}`,
  )
}

/**
 * Computes with the exact fraction, because 7.8 in floating point would lose a sample of 39/5 s.
 */
function segmentSamplesOf(segment: unknown, sampleRate: number): number {
  const [, numerator, denominator = '1'] = /^(\d{1,6})(?:\/(\d{1,6}))?$/.exec(String(segment)) ?? []
  const samples = Math.floor((Number(numerator) * sampleRate) / Number(denominator))
  if (Number.isSafeInteger(samples) && samples > 0) return samples
  throw new Error(
    `HTDemucs needs segment to be a fraction of seconds such as 39/5, not ${text(segment)}`,
  )
}

const text = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200)
