/**
 * The room that a lane's samples and frames are padded to. Clips of all lengths come in few shapes
 * then, and only shapes that recur run as graphs.
 */
import { frameCount, windowLength, type Framing } from '../framing.ts'
import { PATCH } from './config.ts'

const HOP_SECONDS = 0.016
/** The hop is a multiple of this, so that windows are lengths with a fast transform. */
const HOP_GRAIN = 16

/** About a second. */
const ROOM_TOKENS = 32

/** A step of a lane. */
export interface Pass {
  /** With the frames that there is room for. */
  framing: Framing
  /** Frames of the mixture; the others are silent. */
  frames: number
  /** Tokens of the mixture, likewise. */
  tokens: number
}

export interface LaneRoom {
  passes: readonly Pass[]
  /** Samples of the mixture, one window at least: those beyond its end are silent. */
  samples: number
  /** Mirrored samples before the mixture's. */
  lead: number
  /** Mirrored samples after the mixture's. */
  trail: number
  /** Samples in all, silence at the end included. */
  length: number
  /** Samples of the target, silence at the end included. */
  targetSamples: number
}

/**
 * @param samples of the mixture
 * @param hops of each pass
 * @param tokenShift of all passes' frames, in tokens, less than 1
 */
export function roomOf(samples: number, hops: readonly number[], tokenShift: number): LaneRoom {
  const whole = Math.max(samples, ...hops.map(windowLength))
  const passes = hops.map((hop): Pass => {
    const shift = tokenShift * PATCH * hop
    const frames = frameCount(whole, hop, shift)
    const tokens = tokenCount(frames)
    return { framing: { hop, frames: PATCH * roomFor(tokens), shift }, frames, tokens }
  })
  const mostOf = (of: (pass: Pass) => number) => Math.max(...passes.map(of))
  const lead = mostOf(({ framing }) => leftOf(framing))
  return {
    passes,
    samples: whole,
    lead,
    trail: mostOf(({ framing, frames }) => endOf({ ...framing, frames }) - whole),
    length: lead + mostOf(({ framing }) => Math.max(endOf(framing), spanOf(framing))),
    targetSamples: Math.min(...passes.flatMap(({ framing }) => [endOf(framing), spanOf(framing)])),
  }
}

/** Samples between frames: at every rate about 16 ms, so that bins are about 15.6 Hz wide. */
export function hopAt(sampleRate: number): number {
  return HOP_GRAIN * Math.max(1, Math.round((sampleRate * HOP_SECONDS) / HOP_GRAIN))
}

/**
 * The length in tokens that a row is padded to. The native library caches what it prepares for
 * every shape, and only shapes that recur run as a graph: few lengths keep both small.
 */
export const roomFor = (tokens: number): number => ROOM_TOKENS * Math.ceil(tokens / ROOM_TOKENS)

/** The number of tokens of so many frames. */
export const tokenCount = (frames: number): number => Math.ceil(frames / PATCH)

/** How far before the mixture's first sample the first frame begins. */
export const leftOf = ({ hop, shift }: Framing): number => windowLength(hop) / 2 + shift

/** How far after the mixture's first sample the last frame ends. */
const endOf = ({ hop, frames, shift }: Framing): number => (frames + 1) * hop - shift

/** Samples of as many hops as there are frames. */
export const spanOf = ({ hop, frames }: Framing): number => hop * frames

/** Returns whether what is laid out for one room is so for the other. */
export const isLaidOutAlike = (one: LaneRoom, other: LaneRoom): boolean =>
  one.lead === other.lead &&
  one.trail === other.trail &&
  one.samples === other.samples &&
  one.length === other.length

/** The channels as the room has them, one after the other: [channels · length]. */
export function layOut(
  channels: readonly Float32Array[],
  { samples, lead, trail, length }: LaneRoom,
): Float32Array {
  const flat = new Float32Array(channels.length * length)
  for (const [i, wave] of channels.entries()) {
    const row = flat.subarray(i * length, (i + 1) * length)
    row.set(wave, lead)
    const [first, last] = [lead, lead + samples - 1]
    for (let place = 1; place <= lead; place += 1) row[first - place] = row[first + place]!
    for (let place = 1; place <= trail; place += 1) row[last + place] = row[last - place]!
  }
  return flat
}
