/** Encodes spans as the network's input: one token for each frame (SAMAudioProcessor). */
import type { Span } from '../../model.ts'

/** Anchor tokens, as in the network's table. */
const TOKENS = { none: 0, sounds: 1, silent: 2 } as const

/** Tells which frame of the model a time falls into. */
export interface FrameClock {
  /** Hertz. */
  sampleRate: number
  /** Samples per frame. */
  hop: number
}

/**
 * Returns the token of each frame; if several spans cover a frame, the last one counts.
 * @param spans in seconds from the first frame
 */
export function anchorTokens(
  spans: readonly Span[],
  frames: number,
  { sampleRate, hop }: FrameClock,
): Int32Array {
  // In the same order as the reference, because the rounding of the product matters.
  const frameAt = (seconds: number) => Math.ceil((seconds * sampleRate) / hop)
  const tokens = new Int32Array(frames).fill(TOKENS.none)
  for (const { start, end, include } of spans) {
    if (start < 0) throw new Error(`A span begins at 0 s or later, not at ${start} s`)
    tokens.fill(include ? TOKENS.sounds : TOKENS.silent, frameAt(start), Math.max(0, frameAt(end)))
  }
  return tokens
}
