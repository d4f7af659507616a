/** Spans as the network's input: a token for every frame (SAMAudioProcessor). */
import type { Span } from '../../model.ts'

/** Tokens of the anchors, as the network's table has them. */
const TOKENS = { none: 0, sounds: 1, silent: 2 } as const

/** The model's clock: which frame a time falls into. */
export interface FrameClock {
  /** Hertz. */
  sampleRate: number
  /** Samples of a frame. */
  hop: number
}

/**
 * The token of each frame; of several spans over a frame the last one counts.
 * @param spans in seconds from the first frame
 */
export function anchorTokens(
  spans: readonly Span[],
  frames: number,
  { sampleRate, hop }: FrameClock,
): Int32Array {
  // As the reference does it, in this order: the rounding of the product counts.
  const frameAt = (seconds: number) => Math.ceil((seconds * sampleRate) / hop)
  const tokens = new Int32Array(frames).fill(TOKENS.none)
  for (const { start, end, include } of spans) {
    if (start < 0) throw new Error(`A span begins at 0 s or later, not at ${start} s`)
    tokens.fill(include ? TOKENS.sounds : TOKENS.silent, frameAt(start), Math.max(0, frameAt(end)))
  }
  return tokens
}
