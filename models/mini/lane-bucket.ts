/**
 * The bucket of shapes that a lane's samples and frames are padded to. Padding brings clips of all
 * lengths to few shapes, and only shapes that recur run as graphs.
 */
import { frameCount, windowLength, type Framing } from '../layers/framing.ts'
import { PATCH } from './config.ts'

const HOP_SECONDS = 0.016
/** The hop is a multiple of this, so that windows are lengths with a fast transform. */
const HOP_GRAIN = 16

/** About a second. */
const BUCKET_TOKENS = 32

/** A step of a lane: which frames and tokens of its mixture the network reads. */
export interface Pass {
  /** Samples between frames. */
  hop: number
  /** How much earlier than usual the frames lie, in samples. */
  shift: number
  /** Samples of the mixture, one window at least: those beyond its end are silent. */
  samples: number
  /** Frames of the mixture. */
  frames: number
  /** Tokens of the mixture. */
  tokens: number
}

/** A bucket for passes with one hop and one shift. */
export interface Bucket {
  /** With all frames of the bucket; those beyond the mixture's are silent. */
  framing: Framing
  /** Tokens of the bucket. */
  tokens: number
  /** Mirrored samples before the mixture's. */
  lead: number
  /** Samples in all, mirrored ones and silence at the end included. */
  length: number
  /** Samples of the target, silence at the end included. */
  targetSamples: number
}

/**
 * @param samples of the mixture
 * @param tokenShift of the pass's frames, in tokens, less than 1
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

/** Samples between frames: at every rate about 16 ms, so that bins are about 15.6 Hz wide. */
export function hopAt(sampleRate: number): number {
  return HOP_GRAIN * Math.max(1, Math.round((sampleRate * HOP_SECONDS) / HOP_GRAIN))
}

/**
 * Returns the length in tokens that a row is padded to. The native library caches what it prepares
 * for every shape, and each recurring shape becomes a graph, so few lengths keep both small.
 */
export const tokensOfBucket = (tokens: number): number =>
  BUCKET_TOKENS * Math.ceil(tokens / BUCKET_TOKENS)

/** The number of tokens of so many frames. */
export const tokenCount = (frames: number): number => Math.ceil(frames / PATCH)

/** How far before the mixture's first sample the first frame begins. */
const leftOf = ({ hop, shift }: Pick<Framing, 'hop' | 'shift'>): number =>
  windowLength(hop) / 2 + shift

/** How far after the mixture's first sample the last frame ends. */
const endOf = ({ hop, frames, shift }: Pick<Framing, 'hop' | 'frames' | 'shift'>): number =>
  (frames + 1) * hop - shift

/** Returns the samples of as many hops as there are frames. */
export const spanOf = ({ hop, frames }: Framing): number => hop * frames

/** Writes a channel of the mixture, with its ends mirrored, to `bucket`, which holds zeros. */
export function layOut(wave: Float32Array, pass: Pass, bucket: Float32Array): void {
  const lead = leftOf(pass)
  const trail = endOf(pass) - pass.samples
  bucket.set(wave, lead)
  const [first, last] = [lead, lead + pass.samples - 1]
  for (let place = 1; place <= lead; place += 1) bucket[first - place] = bucket[first + place]!
  for (let place = 1; place <= trail; place += 1) bucket[last + place] = bucket[last - place]!
}
