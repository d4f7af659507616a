/** The sizes of an HTDemucs network, from the keyword arguments in its checkpoint. */
import { settingsOf, type Settings } from '../installed/published-settings.ts'

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
const FIXED: Settings = {
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

const settings = settingsOf('HTDemucs')

/**
 * @param kwargs of the constructor, with `segment` in seconds as a fraction such as '39/5'
 * @throws Error naming an argument that is missing or has an unsupported value
 */
export function readHTDemucsConfig(kwargs: Settings): HTDemucsConfig {
  settings.checkFixed(kwargs, FIXED)
  const size = (name: string, least = 1) => settings.size(name, kwargs[name], { least })
  const sampleRate = size('samplerate')
  const depth = size('depth')
  if (size('norm_starts') < depth) {
    throw new Error('HTDemucs with norms in its encoders is not supported')
  }
  return {
    sources: settings.stems('sources', kwargs.sources),
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

function numberOf(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  return settings.refuse(`${name} to be a number`, value)
}

/**
 * Computes with the exact fraction, because 7.8 in floating point would lose a sample of 39/5 s.
 */
function segmentSamplesOf(segment: unknown, sampleRate: number): number {
  const [, numerator, denominator = '1'] = /^(\d{1,6})(?:\/(\d{1,6}))?$/.exec(String(segment)) ?? []
  const samples = Math.floor((Number(numerator) * sampleRate) / Number(denominator))
  if (Number.isSafeInteger(samples) && samples > 0) return samples
  return settings.refuse('segment to be a fraction of seconds such as 39/5', segment)
}
