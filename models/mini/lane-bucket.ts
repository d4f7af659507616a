/**
 * The bucket of shapes that the samples and frames of a lane are padded to. Padding brings clips of
 * all lengths to a few shapes, and only shapes that recur can run as graphs.
 */
import { frameCount, windowLength, type Framing } from '../layers/framing.ts'
import { PATCH } from './config.ts'

const HOP_SECONDS = 0.016
/** The hop is a multiple of this, so that windows have lengths with a fast transform. */
const HOP_GRAIN = 16

/** About a second. */
const BUCKET_TOKENS = 32

/** One step of a lane: which frames and tokens of its mixture the network reads. */
export interface Pass {
  /** Samples between frames. */
  hop: number
  /** How many samples earlier than usual the frames start. */
  shift: number
  /** Samples of the mixture, at least one window; those after its end are silent. */
  samples: number
  /** Frames of the mixture. */
  frames: number
  /** Tokens of the mixture. */
  tokens: number
}

/** A bucket for passes with one hop and one shift. */
export interface Bucket {
  /** Includes all frames of the bucket; those after the end of the mixture are silent. */
  framing: Framing
  /** Tokens of the bucket. */
  tokens: number
  /** How many mirrored samples precede the mixture. */
  lead: number
  /** Total number of samples, including the mirrored ones and the silence at the end. */
  length: number
  /** Samples of the target, including the silence at the end. */
  targetSamples: number
}

/**
 * @param samples how many samples the mixture has
 * @param tokenShift how far the frames are shifted, in tokens, less than 1
 */
export function passOf(samples: number, hop: number, tokenShift: number): Pass {
  const whole = Math.max(samples, windowLength(hop))
  const shift = tokenShift * PATCH * hop
  const frames = frameCount(whole, hop, shift)
  return { hop, shift, samples: whole, frames, tokens: tokenCount(frames) }
}

/** Returns the smallest bucket that holds all passes, which share one hop and one shift. */
export function bucketOf(passes: readonly Pass[]): Bucket {
  const [{ hop, shift }] = passes as readonly [Pass]
  const tokens = tokensOfBucket(Math.max(...passes.map((pass) => pass.tokens)))
  const framing = { hop, frames: PATCH * tokens, shift }
  const lead = leftOf(framing)
  const ends = [endOf(framing), spanOf(framing)]
  const length = lead + Math.max(...ends)
  return { framing, tokens, lead, length, targetSamples: Math.min(...ends) }
}

/**
 * Returns the samples between frames, about 16 ms at every rate, which makes bins about 15.6 Hz
 * wide.
 */
export function hopAt(sampleRate: number): number {
  return HOP_GRAIN * Math.max(1, Math.round((sampleRate * HOP_SECONDS) / HOP_GRAIN))
}

/**
 * Returns the length in tokens that a row is padded to. The native library caches what it prepares
 * for every shape, and each recurring shape becomes a graph, so few lengths keep both small.
 */
export const tokensOfBucket = (tokens: number): number =>
  BUCKET_TOKENS * Math.ceil(tokens / BUCKET_TOKENS)

/** How many tokens `frames` frames make. */
export const tokenCount = (frames: number): number => Math.ceil(frames / PATCH)

/** How many samples before the start of the mixture the first frame begins. */
const leftOf = ({ hop, shift }: Pick<Framing, 'hop' | 'shift'>): number =>
  windowLength(hop) / 2 + shift

/** How many samples after the start of the mixture the last frame ends. */
const endOf = ({ hop, frames, shift }: Pick<Framing, 'hop' | 'frames' | 'shift'>): number =>
  (frames + 1) * hop - shift

/** How many samples `frames` hops make. */
export const spanOf = ({ hop, frames }: Framing): number => hop * frames

/** Writes a channel of the mixture, with mirrored ends, to `bucket`, which holds zeros. */
export function layOut(wave: Float32Array, pass: Pass, bucket: Float32Array): void {
  const lead = leftOf(pass)
  const trail = endOf(pass) - pass.samples
  bucket.set(wave, lead)
  const [first, last] = [lead, lead + pass.samples - 1]
  for (let place = 1; place <= lead; place += 1) bucket[first - place] = bucket[first + place]!
  for (let place = 1; place <= trail; place += 1) bucket[last + place] = bucket[last - place]!
}
