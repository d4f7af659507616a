/** The sizes of a Spleeter network, from the configuration that its authors publish with it. */
import { SAMPLES_MAX, settingsOf, type Settings } from '../installed/published-settings.ts'

const ACTIVATIONS = ['LeakyReLU', 'ReLU', 'ELU'] as const
export type Activation = (typeof ACTIVATIONS)[number]

/** Spleeter of deezer/spleeter, limited to where its published networks differ. */
export interface SpleeterConfig {
  /** Names of the stems, in the order of their networks. */
  stems: readonly string[]
  /** Hertz. */
  sampleRate: number
  /** Samples per window; the hop is a quarter of it. */
  window: number
  /** Frames and bins of a segment; higher bins get the mean of the frame's masks. */
  frames: number
  bins: number
  /** Channels after each of the six encoders. */
  filters: readonly number[]
  encoderActivation: Activation
  decoderActivation: Activation
  /** Whether the stems' answers compete in a softmax, instead of each standing for itself. */
  isSoftmax: boolean
}

/** Configuration of the published network with two stems. */
export const TWO_STEMS = {
  instrument_list: ['vocals', 'accompaniment'],
  sample_rate: 44_100,
  frame_length: 4_096,
  frame_step: 1_024,
  T: 512,
  F: 1_024,
  n_channels: 2,
  separation_exponent: 2,
  mask_extension: 'zeros',
  model: { type: 'unet.unet', params: {} },
} as const

export const LEVELS = 6
/** Every level halves frames and bins. */
const MULTIPLE = 2 ** LEVELS
const DEFAULT_FILTERS = [16, 32, 64, 128, 256, 512]
export const HOPS_PER_WINDOW = 4

/** Values that are the same in all published networks; others are refused. */
const FIXED: Settings = { n_channels: 2, separation_exponent: 2 }

const settings = settingsOf('Spleeter')

/**
 * @param kwargs the configuration, in the form of deezer/spleeter's `base_config.json`
 * @throws Error naming a value that is missing or unsupported
 */
export function readSpleeterConfig(kwargs: Settings): SpleeterConfig {
  settings.checkFixed(kwargs, FIXED)
  const size = (name: string, limits?: Parameters<typeof settings.size>[2]) =>
    settings.size(name, kwargs[name], limits)
  const window = size('frame_length', { multiple: 2 * HOPS_PER_WINDOW })
  const hop = size('frame_step')
  if (hop * HOPS_PER_WINDOW !== window) {
    settings.refuse('frame_step to be a quarter of frame_length', hop)
  }
  return {
    stems: settings.stems('instrument_list', kwargs.instrument_list, 2),
    sampleRate: size('sample_rate', { most: SAMPLES_MAX }),
    window,
    frames: size('T', { multiple: MULTIPLE }),
    bins: size('F', { multiple: MULTIPLE, most: window / 2 }),
    ...modelOf(kwargs.model),
  }
}

const TYPES = ['unet.unet', 'unet.softmax_unet']

type ModelPart = Pick<
  SpleeterConfig,
  'filters' | 'encoderActivation' | 'decoderActivation' | 'isSoftmax'
>

function modelOf(model: unknown): ModelPart {
  const { type, params = {} } = (model ?? {}) as { type?: unknown; params?: object }
  if (!TYPES.includes(type as string)) {
    settings.refuse(`model.type to be one of ${TYPES.join(', ')}`, type)
  }
  const { conv_n_filters: filters = DEFAULT_FILTERS, ...rest } = params as Record<string, unknown>
  if (!Array.isArray(filters) || filters.length !== LEVELS) {
    return settings.refuse(`conv_n_filters to be ${LEVELS} sizes`, filters)
  }
  return {
    filters: filters.map((size) => settings.size('conv_n_filters', size)),
    encoderActivation: activationOf('conv_activation', rest.conv_activation, 'LeakyReLU'),
    decoderActivation: activationOf('deconv_activation', rest.deconv_activation, 'ReLU'),
    isSoftmax: type === 'unet.softmax_unet',
  }
}

function activationOf(name: string, value: unknown, otherwise: Activation): Activation {
  const found = ACTIVATIONS.find((activation) => activation === (value ?? otherwise))
  return found ?? settings.refuse(`${name} to be one of ${ACTIVATIONS.join(', ')}`, value)
}
