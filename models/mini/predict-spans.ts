/** Predicts the spans of the target from the activity of each token. */
import type { Span } from '../model.ts'
import type { TokenClock } from './span-tokens.ts'

/** A span covers tokens with at least this probability … */
const PROBABLE = 0.3
/** … and contains at least one with this. */
const SURE = 0.6

const SPAN_SECONDS_MIN = 0.1
/** Spans closer together than this are merged, since words have pauses. */
const GAP_SECONDS_MIN = 0.5
/** Added at both ends, for onsets and reverberation. */
const MARGIN_SECONDS = 0.1

/**
 * Returns the spans in which the target is active, in order, in seconds from the start of a chunk
 * that lasts `seconds`; empty if there are none. `activity` holds a probability for each token.
 */
export function predictSpans(
  activity: Float32Array,
  seconds: number,
  { tokenSeconds, startSecond }: TokenClock,
): Span[] {
  const runs = joinNear(probableRuns(activity), GAP_SECONDS_MIN / tokenSeconds)
  return runs
    .filter(([first, end]) => (end - first) * tokenSeconds >= SPAN_SECONDS_MIN)
    .map(([first, end]) => ({
      start: Math.max(0, startSecond + first * tokenSeconds - MARGIN_SECONDS),
      end: Math.min(seconds, startSecond + end * tokenSeconds + MARGIN_SECONDS),
      include: true,
    }))
}

type Run = [first: number, end: number]

/** Runs of probable tokens that contain a certain one (hysteresis). */
function probableRuns(activity: Float32Array): Run[] {
  const runs: Run[] = []
  let first = -1
  let isSure = false
  for (let i = 0; i <= activity.length; i += 1) {
    const probability = activity[i] ?? 0
    if (probability >= PROBABLE) {
      if (first < 0) first = i
      isSure ||= probability >= SURE
    } else if (first >= 0) {
      if (isSure) runs.push([first, i])
      first = -1
      isSure = false
    }
  }
  return runs
}

function joinNear(runs: readonly Run[], tokensMin: number): Run[] {
  const joined: Run[] = []
  for (const [first, end] of runs) {
    const last = joined.at(-1)
    if (last && first - last[1] < tokensMin) last[1] = end
    else joined.push([first, end])
  }
  return joined
}
