/** The sizes of an SCNet, from the .yaml that is published with its checkpoint. */

/** A band of bins: low, mid or high. */
export interface BandSizes {
  /** How many bins one bin of the next level stands for, except in the low band. */
  stride: number
  kernel: number
  /** Number of residual layers. */
  depth: number
}

export interface ScnetConfig {
  /** Names of the stems, in the order of the outputs. */
  sources: readonly string[]
  /** Hertz. */
  sampleRate: number
  audioChannels: number
  /** Samples per chunk. */
  chunkSamples: number
  /** How many chunks start within the length of one, in the reference. */
  overlaps: number
  window: number
  hop: number
  /** Whether spectra are divided by the square root of the window length. */
  isScaled: boolean
  /** Channels of the input, and after each encoder. */
  dims: readonly number[]
  /** The low and the mid band's shares of the bins. */
  shares: readonly [low: number, mid: number]
  /** Low, mid, high. */
  bands: readonly [BandSizes, BandSizes, BandSizes]
  /** The width of the residual layers is the number of channels divided by this. */
  compression: number
  /** Kernel size of the residual layers, an odd number. */
  residualKernel: number
  /** How many pairs of recurrent layers there are. */
  pairs: number
  /** Width of a recurrent layer in each direction, as a multiple of its input's width. */
  expansion: number
  /** Whether the whole song is normalised to zero mean and unit deviation. */
  levelsSong: boolean
  /** Whether the spectrum of each chunk is normalised. No published checkpoint needs it. */
  levelsSpectrum: boolean
}

type Values = Readonly<Record<string, unknown>>

const BANDS = 3
const SIZE_MAX = 2 ** 24
const SOURCES_MAX = 16
/** As in the published networks. */
const RATE = 44_100
const CHUNK_SECONDS = 11
const OVERLAPS = 4

/**
 * @param yaml as parsed: `audio`, `model` and `inference`
 * @throws Error naming what is missing or has an unsupported value
 */
export function readScnetConfig(yaml: Readonly<Record<string, Values | undefined>>): ScnetConfig {
  const { audio = {}, model = {}, inference = {} } = yaml
  const size = (name: string, from = model) => sizeOf(name, from[name])
  const sampleRate = sizeOf('sample_rate', audio.sample_rate ?? RATE)
  const window = size('nfft')
  if (window % 2 !== 0) throw new Error(`SCNet needs nfft to be an even number, not ${window}`)
  if (size('win_size') !== window) {
    throw new Error('SCNet whose window is shorter than its transform is not supported')
  }
  return {
    sources: sourcesOf(model.sources),
    sampleRate,
    chunkSamples: sizeOf('chunk_size', audio.chunk_size ?? CHUNK_SECONDS * sampleRate),
    overlaps: sizeOf('num_overlap', inference.num_overlap ?? OVERLAPS),
    window,
    hop: sizeOf('hop_size', model.hop_size, window),
    isScaled: model.normalized === true,
    bands: bandsOf(model),
    shares: sharesOf(model.band_SR),
    ...widthsOf(model),
    pairs: pairsOf(size('num_dplayer')),
    expansion: size('expand'),
    levelsSong: inference.normalize !== false,
    levelsSpectrum: model.normalize_spectrogram === true,
  }
}

/** Counts pairs; every second layer turns back the frames that the one before transformed. */
function pairsOf(count: number): number {
  if (count % 2 === 0) return count
  throw new Error(`SCNet needs num_dplayer to be even, not ${count}`)
}

type Widths = Pick<ScnetConfig, 'audioChannels' | 'dims' | 'compression' | 'residualKernel'>

function widthsOf(model: Values): Widths {
  const dims = sizesOf('dims', model.dims)
  const audioChannels = sizeOf('audio_channels', model.audio_channels, 2)
  if (dims.length < 2 || dims[0] !== 2 * audioChannels) {
    throw new Error(
      `SCNet needs dims to begin with twice its audio_channels, not ${text(model.dims)}`,
    )
  }
  const residualKernel = sizeOf('conv_kernel', model.conv_kernel)
  if (residualKernel % 2 === 0) {
    throw new Error(`SCNet needs conv_kernel to be odd, not ${residualKernel}`)
  }
  return {
    dims,
    audioChannels,
    residualKernel,
    compression: sizeOf('compress', model.compress, Math.min(...dims.slice(1))),
  }
}

function bandsOf(model: Values): ScnetConfig['bands'] {
  const [strides, kernels, depths] = ['band_stride', 'band_kernel', 'conv_depths'].map((name) =>
    sizesOf(name, model[name], BANDS),
  )
  return strides!.map((stride, i) => ({
    stride,
    kernel: kernels![i]!,
    depth: depths![i]!,
  })) as unknown as ScnetConfig['bands']
}

function sharesOf(value: unknown): [number, number] {
  const [low, mid] = Array.isArray(value) && value.length === BANDS ? (value as number[]) : []
  if (low! > 0 && mid! > 0 && low! + mid! < 1) return [low!, mid!]
  throw new Error(
    `SCNet needs band_SR to be ${BANDS} shares whose sum is 1 at most, not ${text(value)}`,
  )
}

function sizesOf(name: string, value: unknown, count?: number): number[] {
  const isList = Array.isArray(value) && value.length <= SOURCES_MAX
  if (isList && value.length === (count ?? value.length)) {
    return value.map((one) => sizeOf(name, one))
  }
  throw new Error(`SCNet needs ${name} to be ${count ?? 'some'} sizes, not ${text(value)}`)
}

function sizeOf(name: string, value: unknown, most = SIZE_MAX): number {
  const isSize = Number.isInteger(value) && (value as number) > 0 && (value as number) <= most
  if (isSize) return value as number
  throw new Error(`SCNet needs ${name} to be a whole number from 1 to ${most}, not ${text(value)}`)
}

function sourcesOf(value: unknown): string[] {
  const names: unknown[] = Array.isArray(value) ? value.slice(0, SOURCES_MAX + 1) : []
  const areNames = names.every(
    (name) => typeof name === 'string' && /^[a-z0-9_ -]{1,40}$/.test(name),
  )
  if (names.length > 0 && names.length <= SOURCES_MAX && areNames) return names as string[]
  throw new Error(
    `SCNet needs sources to be 1 to ${SOURCES_MAX} names of stems, not ${text(value)}`,
  )
}

const text = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200)

/** Number of bins in the low, the mid and the high band. */
export type BandLengths = readonly [low: number, mid: number, high: number]

/** Number of bins in each band before and after an encoder. */
export interface LevelLengths {
  before: BandLengths
  after: BandLengths
}

/**
 * Returns the lengths for every encoder, starting with the first, for a spectrogram with this many
 * bins.
 */
export function levelLengths({ window, shares, bands, dims }: ScnetConfig): LevelLengths[] {
  const [low, mid] = shares
  const levels: LevelLengths[] = []
  let bins = window / 2 + 1
  for (let level = 0; level < dims.length - 1; level += 1) {
    const [a, b] = [Math.ceil(bins * low), Math.ceil(bins * (low + mid))]
    const before: BandLengths = [a, b - a, bins - b]
    const after = before.map((length, i) => binsAfter(length, bands[i]!)) as [
      number,
      number,
      number,
    ]
    levels.push({ before, after })
    bins = after.reduce((sum, length) => sum + length)
  }
  return levels
}

function binsAfter(bins: number, { stride, kernel }: BandSizes): number {
  if (stride === 1) return bins
  return 1 + Math.floor((stride * Math.ceil(bins / stride) - kernel) / stride)
}
