/** Where the target sounds, told from what the mask let through. */
import type { Span } from '../model.ts'

const FRAME_SECONDS = 0.02
/** The level of a frame is that of this many frames around it. */
const SMOOTHING_FRAMES = 5

/** A span begins and ends where the target has this share of the mixture's power … */
const SHARE_LEAST = 0.05
/** … and somewhere within has this much. */
const SHARE_SURE = 0.2
/** Frames whose target is this much weaker than its loudest count as silent: 40 dB, as power. */
const FLOOR = 1e-4

const SPAN_SECONDS_MIN = 0.1
/** Spans with less between them are one: a word has pauses. */
const GAP_SECONDS_MIN = 0.5
/** What is added at both ends, for attacks and reverberation. */
const MARGIN_SECONDS = 0.1

/**
 * The spans in which `target` has a fair share of the power of `mixture`, in order, in seconds from
 * the chunk's start. Both [channels][samples]. None when it has so nowhere.
 */
export function predictSpans(
  target: readonly Float32Array[], mixture: readonly Float32Array[], sampleRate: number,
): Span[] {
  const frame = Math.max(1, Math.round(sampleRate * FRAME_SECONDS))
  const powers = framePowers(target, frame)
  const wholes = framePowers(mixture, frame)
  const floor = FLOOR * Math.max(...powers)
  const shares = powers.map((power, i) => (power > floor ? power / (wholes[i]! + 1e-20) : 0))
  const second = frame / sampleRate
  const seconds = target[0]!.length / sampleRate
  const runs = joinNear(runsAbove(shares), GAP_SECONDS_MIN / second)
  return runs
    .filter(([first, end]) => (end - first) * second >= SPAN_SECONDS_MIN)
    .map(([first, end]) => ({
      start: Math.max(0, first * second - MARGIN_SECONDS),
      end: Math.min(seconds, end * second + MARGIN_SECONDS),
      include: true,
    }))
}

/** Mean power of each frame and its neighbours, all channels together. */
function framePowers(channels: readonly Float32Array[], frame: number): number[] {
  const powers = new Array<number>(Math.ceil(channels[0]!.length / frame)).fill(0)
  for (const wave of channels) {
    for (let i = 0; i < wave.length; i += 1) powers[Math.floor(i / frame)]! += wave[i]! ** 2
  }
  const reach = (SMOOTHING_FRAMES - 1) / 2
  return powers.map((_, i) => {
    const around = powers.slice(Math.max(0, i - reach), i + reach + 1)
    return around.reduce((sum, power) => sum + power, 0) / around.length
  })
}

type Run = [first: number, end: number]

/** Runs of frames with the least share, in which some frame has the sure one (hysteresis). */
function runsAbove(shares: readonly number[]): Run[] {
  const runs: Run[] = []
  let first = -1
  let isSure = false
  for (let i = 0; i <= shares.length; i += 1) {
    const share = shares[i] ?? 0
    if (share >= SHARE_LEAST) {
      if (first < 0) first = i
      isSure ||= share >= SHARE_SURE
    } else if (first >= 0) {
      if (isSure) runs.push([first, i])
      first = -1
      isSure = false
    }
  }
  return runs
}

function joinNear(runs: readonly Run[], framesMin: number): Run[] {
  const joined: Run[] = []
  for (const [first, end] of runs) {
    const last = joined.at(-1)
    if (last && first - last[1] < framesMin) last[1] = end
    else joined.push([first, end])
  }
  return joined
}
