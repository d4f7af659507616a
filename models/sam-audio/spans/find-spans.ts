/** Turns the scores of frames into the spans where the sound was found (PEAudioFrame). */
import type { Span } from '../../model.ts'
import type { FrameClock } from './anchors.ts'

/** Frames with a score above this contain the sound. */
export const THRESHOLD = 0.3

/**
 * Returns runs of frames above the threshold, in seconds.
 * @param scores the scores of the frames of one row, 0 to 1
 */
export function findSpans(
  scores: ArrayLike<number>,
  clock: FrameClock,
  threshold = THRESHOLD,
): Span[] {
  const spans: Span[] = []
  for (let start = 0; start < scores.length; start += 1) {
    if (!(scores[start]! > threshold)) continue
    let end = start + 1
    while (scores[end]! > threshold) end += 1
    spans.push({ start: secondsAt(start, clock), end: secondsAt(end, clock), include: true })
    start = end
  }
  return spans
}

/**
 * Returns seconds in float32, like the reference. Turned back into frames, nearly half of them
 * become the next frame, and the network was trained that way.
 */
const secondsAt = (frame: number, { sampleRate, hop }: FrameClock): number =>
  Math.fround((frame * hop) / sampleRate)
