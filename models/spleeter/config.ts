/** The sizes of a Spleeter network, from the configuration that its authors publish with it. */

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
/** Upper limit for every size; published ones are far smaller. */
const SIZE_MAX = 65_536
const STEMS_MAX = 16

/** Values that are the same in all published networks; others are refused. */
const FIXED: Readonly<Record<string, unknown>> = { n_channels: 2, separation_exponent: 2 }

/**
 * @param kwargs the configuration, in the form of deezer/spleeter's `base_config.json`
 * @throws Error naming a value that is missing or unsupported
 */
export function readSpleeterConfig(kwargs: Readonly<Record<string, unknown>>): SpleeterConfig {
  for (const [name, value] of Object.entries(FIXED)) {
    if (kwargs[name] !== value) {
      throw new Error(`Spleeter with ${name} ${text(kwargs[name])} is not supported, only ${value}`)
    }
  }
  const window = sizeOf('frame_length', kwargs.frame_length, 2 * HOPS_PER_WINDOW)
  const hop = sizeOf('frame_step', kwargs.frame_step)
  if (hop * HOPS_PER_WINDOW !== window) {
    throw new Error(`Spleeter needs frame_step to be a quarter of frame_length, not ${hop}`)
  }
  const bins = sizeOf('F', kwargs.F, MULTIPLE)
  if (bins > window / 2) throw new Error(`Spleeter needs F to be at most ${window / 2}`)
  return {
    stems: stemsOf(kwargs.instrument_list),
    sampleRate: sizeOf('sample_rate', kwargs.sample_rate, 1, 1_000_000),
    window,
    frames: sizeOf('T', kwargs.T, MULTIPLE),
    bins,
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
    throw new Error(`Spleeter needs model.type to be one of ${TYPES.join(', ')}, not ${text(type)}`)
  }
  const { conv_n_filters: filters = DEFAULT_FILTERS, ...rest } = params as Record<string, unknown>
  if (!Array.isArray(filters) || filters.length !== LEVELS) {
    throw new Error(`Spleeter needs conv_n_filters to be ${LEVELS} sizes, not ${text(filters)}`)
  }
  return {
    filters: filters.map((size) => sizeOf('conv_n_filters', size)),
    encoderActivation: activationOf('conv_activation', rest.conv_activation, 'LeakyReLU'),
    decoderActivation: activationOf('deconv_activation', rest.deconv_activation, 'ReLU'),
    isSoftmax: type === 'unet.softmax_unet',
  }
}

function activationOf(name: string, value: unknown, otherwise: Activation): Activation {
  const known = ACTIVATIONS.find((activation) => activation === (value ?? otherwise))
  if (known) return known
  throw new Error(
    `Spleeter needs ${name} to be one of ${ACTIVATIONS.join(', ')}, not ${text(value)}`,
  )
}

/** @param multiple the size must be a multiple of this */
function sizeOf(name: string, value: unknown, multiple = 1, most = SIZE_MAX): number {
  const isSize = Number.isInteger(value) && (value as number) > 0 && (value as number) <= most
  if (isSize && (value as number) % multiple === 0) return value as number
  const kind = multiple === 1 ? 'a whole number' : `a multiple of ${multiple}`
  throw new Error(`Spleeter needs ${name} to be ${kind} up to ${most}, not ${text(value)}`)
}

function stemsOf(value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value.slice(0, STEMS_MAX + 1) : []
  const areNames = names.every(
    (name) => typeof name === 'string' && /^[a-z0-9_ -]{1,40}$/.test(name),
  )
  if (names.length >= 2 && names.length <= STEMS_MAX && areNames) return names as string[]
  throw new Error(
    `Spleeter needs instrument_list to be 2 to ${STEMS_MAX} names of stems, not ${text(value)}`,
  )
}

const text = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200)
