/** The sizes of BS-RoFormer and Mel-Band RoFormer, from the .yaml next to a checkpoint. */
import type { Band } from '../layers/band-join.ts'
import { melBands } from './mel-bands.ts'

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

type Values = Readonly<Record<string, unknown>>

/** Settings with a single supported value; networks with another compute something else. */
const FIXED: Values = {
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

const SIZE_MAX = 2 ** 24

/**
 * @param yaml as parsed: `audio`, `model`, `training` and `inference`
 * @throws Error naming what is missing or has an unsupported value
 */
export function readRoformerConfig(
  yaml: Readonly<Record<string, Values | undefined>>,
): RoformerConfig {
  const { audio = {}, model = {}, training = {}, inference = {} } = yaml
  for (const [name, value] of Object.entries(FIXED)) {
    if (model[name] !== undefined && model[name] !== value) {
      throw new Error(
        `RoFormer with ${name} ${text(model[name])} is not supported, only ${text(value)}`,
      )
    }
  }
  const size = (from: Values, name: string, absent?: number) => sizeOf(name, from[name] ?? absent)
  const window = size(model, 'stft_n_fft', 2048)
  if (size(model, 'stft_win_length', window) !== window) {
    throw new Error('RoFormer whose window is shorter than its transform is not supported')
  }
  const kind = model.num_bands === undefined ? 'bs' : 'mel'
  const sampleRate = size(kind === 'mel' ? model : audio, 'sample_rate', 44_100)
  return {
    kind,
    stems: stemsOf(training, size(model, 'num_stems', 1)),
    sampleRate,
    audioChannels: model.stereo === true ? 2 : 1,
    chunkSamples: sizeOf('chunk_size', inference.chunk_size ?? audio.chunk_size),
    overlaps: size(inference, 'num_overlap', 2),
    window,
    hop: size(model, 'stft_hop_length', 512),
    bands:
      kind === 'mel'
        ? melBands(sampleRate, window, size(model, 'num_bands'))
        : sideBySide(model.freqs_per_bands ?? DEFAULT_BANDS, window / 2 + 1),
    dim: size(model, 'dim'),
    depth: size(model, 'depth'),
    heads: size(model, 'heads', 8),
    headDim: size(model, 'dim_head', 64),
    timeDepth: size(model, 'time_transformer_depth', 2),
    bandDepth: size(model, 'freq_transformer_depth', 2),
    silencesDc: model.zero_dc !== false,
  }
}

function sizeOf(name: string, value: unknown): number {
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= SIZE_MAX) {
    return value as number
  }
  throw new Error(`RoFormer needs ${name} to be a whole number from 1, not ${text(value)}`)
}

const STEMS_MAX = 16

/** Returns the names of the stems: the stated target, or all instruments if there is none. */
function stemsOf({ instruments, target_instrument: target }: Values, count: number): string[] {
  const all = Array.isArray(instruments) ? instruments.slice(0, STEMS_MAX + 1) : []
  const names = typeof target === 'string' ? [target] : all
  const areNames = names.every((name) => typeof name === 'string' && /^[\w -]{1,40}$/.test(name))
  if (names.length === count && areNames) return names
  throw new Error(
    `RoFormer with ${count} stems needs as many in training.instruments, or its one in ` +
      `training.target_instrument, not ${text(names)}`,
  )
}

function sideBySide(widths: unknown, bins: number): Band[] {
  const sizes = Array.isArray(widths) ? widths.map((width) => sizeOf('freqs_per_bands', width)) : []
  let start = 0
  const bands = sizes.map((width) => ({ start: (start += width) - width, bins: width }))
  if (start === bins) return bands
  throw new Error(`RoFormer needs freqs_per_bands to add up to ${bins} bins, not ${start}`)
}

const text = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200)
