/** The scores of frames to the spans where the sound was found (PEAudioFrame). */
import type { Span } from '../../model.ts'
import type { FrameClock } from './anchors.ts'

/** The score that a frame of the sound exceeds. */
export const THRESHOLD = 0.3

/**
 * Runs of frames above the threshold, in seconds.
 * @param scores of the frames of one row, 0 to 1
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
 * In float32, as the reference has it. When these seconds are turned into frames again, nearly half
 * of them become the next frame, and the network was trained so.
 */
const secondsAt = (frame: number, { sampleRate, hop }: FrameClock): number =>
  Math.fround((frame * hop) / sampleRate)
