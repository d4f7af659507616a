/** The sizes of an SCNet, from the .yaml that is published with its checkpoint. */
import { SAMPLES_MAX, settingsOf, type Settings } from '../installed/published-settings.ts'

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

const BANDS = 3
const LEVELS_MAX = 16
/** As in the published networks. */
const RATE = 44_100
const CHUNK_SECONDS = 11

const settings = settingsOf('SCNet')

/**
 * @param yaml as parsed: `audio`, `model` and `inference`
 * @throws Error naming what is missing or has an unsupported value
 */
export function readScnetConfig(yaml: Readonly<Record<string, Settings | undefined>>): ScnetConfig {
  const { audio = {}, model = {}, inference = {} } = yaml
  const size = (name: string, most?: number) => settings.size(name, model[name], { most })
  const samples = (name: string, absent: number) =>
    settings.size(name, audio[name] ?? absent, { most: SAMPLES_MAX })
  const sampleRate = samples('sample_rate', RATE)
  const window = size('nfft')
  if (window % 2 !== 0) settings.refuse('nfft to be an even number', window)
  if (size('win_size') !== window) {
    throw new Error('SCNet whose window is shorter than its transform is not supported')
  }
  return {
    sources: settings.stems('sources', model.sources),
    sampleRate,
    chunkSamples: samples('chunk_size', CHUNK_SECONDS * sampleRate),
    window,
    hop: size('hop_size', window),
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
  return count % 2 === 0 ? count : settings.refuse('num_dplayer to be even', count)
}

type Widths = Pick<ScnetConfig, 'audioChannels' | 'dims' | 'compression' | 'residualKernel'>

function widthsOf(model: Settings): Widths {
  const dims = sizesOf('dims', model.dims)
  const audioChannels = settings.size('audio_channels', model.audio_channels, { most: 2 })
  if (dims.length < 2 || dims[0] !== 2 * audioChannels) {
    settings.refuse('dims to begin with twice its audio_channels', model.dims)
  }
  const residualKernel = settings.size('conv_kernel', model.conv_kernel)
  if (residualKernel % 2 === 0) settings.refuse('conv_kernel to be odd', residualKernel)
  return {
    dims,
    audioChannels,
    residualKernel,
    compression: settings.size('compress', model.compress, { most: Math.min(...dims.slice(1)) }),
  }
}

function bandsOf(model: Settings): ScnetConfig['bands'] {
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
  return settings.refuse(`band_SR to be ${BANDS} shares whose sum is 1 at most`, value)
}

function sizesOf(name: string, value: unknown, count?: number): number[] {
  const isList = Array.isArray(value) && value.length <= LEVELS_MAX
  if (isList && value.length === (count ?? value.length)) {
    return value.map((size) => settings.size(name, size))
  }
  return settings.refuse(`${name} to be ${count ?? 'some'} sizes`, value)
}

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
