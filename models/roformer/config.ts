/** The sizes of BS-RoFormer and Mel-Band RoFormer, from the .yaml next to a checkpoint. */
import {
  SAMPLES_MAX,
  settingsOf,
  settingText,
  type Settings,
} from '../installed/published-settings.ts'
import { melBands, type Band } from './mel-bands.ts'

export interface RoformerConfig {
  /** `bs`: adjacent bands; `mel`: overlapping bands, evenly spaced on the mel scale. */
  kind: 'bs' | 'mel'
  /** Names of the network's outputs, in order. */
  stems: readonly string[]
  /** Hertz. */
  sampleRate: number
  audioChannels: number
  /** Samples per chunk. */
  chunkSamples: number
  /** How many chunks start within the length of one. */
  overlaps: number
  window: number
  hop: number
  bands: readonly Band[]
  dim: number
  depth: number
  heads: number
  headDim: number
  /** Number of layers of each transformer along time, and along bands. */
  timeDepth: number
  bandDepth: number
  /** Whether the lowest bin of every stem is silenced. */
  silencesDc: boolean
}

/** Settings with a single supported value, which a configuration may leave out. */
const FIXED: Settings = {
  linear_transformer_depth: 0,
  skip_connection: false,
  use_pope: false,
  stft_normalized: false,
}

/** Widths of the bands if the configuration states none: 1,025 bins. */
const DEFAULT_BANDS = [
  ...Array<number>(24).fill(2),
  ...Array<number>(12).fill(4),
  ...Array<number>(8).fill(12),
  ...Array<number>(8).fill(24),
  ...Array<number>(8).fill(48),
  128,
  129,
]

const settings = settingsOf('RoFormer')

/**
 * @param yaml as parsed: `audio`, `model`, `training` and `inference`
 * @throws Error naming what is missing or has an unsupported value
 */
export function readRoformerConfig(
  yaml: Readonly<Record<string, Settings | undefined>>,
): RoformerConfig {
  const { audio = {}, model = {}, training = {}, inference = {} } = yaml
  settings.checkFixed({ ...FIXED, ...model }, FIXED)
  const size = (name: string, absent?: number) => settings.size(name, model[name] ?? absent)
  const samples = (name: string, value: unknown) =>
    settings.size(name, value, { most: SAMPLES_MAX })
  const window = size('stft_n_fft', 2048)
  if (size('stft_win_length', window) !== window) {
    throw new Error('RoFormer whose window is shorter than its transform is not supported')
  }
  const kind = model.num_bands === undefined ? 'bs' : 'mel'
  const { sample_rate: rate } = kind === 'mel' ? model : audio
  const sampleRate = samples('sample_rate', rate ?? 44_100)
  return {
    kind,
    stems: stemsOf(training, size('num_stems', 1)),
    sampleRate,
    audioChannels: model.stereo === true ? 2 : 1,
    chunkSamples: samples('chunk_size', inference.chunk_size ?? audio.chunk_size),
    overlaps: settings.size('num_overlap', inference.num_overlap ?? 2),
    window,
    hop: size('stft_hop_length', 512),
    bands:
      kind === 'mel'
        ? melBands(sampleRate, window, size('num_bands'))
        : sideBySide(model.freqs_per_bands ?? DEFAULT_BANDS, window / 2 + 1),
    dim: size('dim'),
    depth: size('depth'),
    heads: size('heads', 8),
    headDim: size('dim_head', 64),
    timeDepth: size('time_transformer_depth', 2),
    bandDepth: size('freq_transformer_depth', 2),
    silencesDc: model.zero_dc !== false,
  }
}

const STEMS_MAX = 16

/** Returns the names of the stems: the stated target, or all instruments if there is none. */
function stemsOf({ instruments, target_instrument: target }: Settings, count: number): string[] {
  const all = Array.isArray(instruments) ? instruments.slice(0, STEMS_MAX + 1) : []
  const names = typeof target === 'string' ? [target] : all
  const areNames = names.every((name) => typeof name === 'string' && /^[\w -]{1,40}$/.test(name))
  if (names.length === count && areNames) return names
  throw new Error(
    `RoFormer with ${count} stems needs as many in training.instruments, or its one in ` +
      `training.target_instrument, not ${settingText(names)}`,
  )
}

function sideBySide(widths: unknown, bins: number): Band[] {
  const sizes = Array.isArray(widths)
    ? widths.map((width) => settings.size('freqs_per_bands', width))
    : []
  let start = 0
  const bands = sizes.map((width) => ({ start: (start += width) - width, bins: width }))
  if (start === bins) return bands
  throw new Error(`RoFormer needs freqs_per_bands to add up to ${bins} bins, not ${start}`)
}
