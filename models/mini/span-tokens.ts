/** Converts spans into the network's input for each token. */
import type { Span } from '../model.ts'
import { audibleRanges, extendSpans } from '../lanes/span-gain.ts'

/** Times of the tokens in a chunk. */
export interface TokenClock {
  tokens: number
  tokenSeconds: number
  /** Start of the first token. */
  startSecond: number
}

/**
 * Returns two numbers for each token, [tokens · 2]: 1 where a span says that the target is present,
 * and 1 where a span says that it is absent, judged at the middle of the token. Both are 0 where no
 * span applies. This matches `hint` in the training mixtures.
 */
export function spanTokens(
  spans: readonly Span[],
  seconds: number,
  { tokens, tokenSeconds, startSecond }: TokenClock,
): Float32Array {
  const input = new Float32Array(2 * tokens)
  if (spans.length === 0) return input
  const ranges = audibleRanges(extendSpans(spans, seconds))
  const saysWhere = spans.some(({ include }) => include)
  for (let token = 0; token < tokens; token += 1) {
    const middle = startSecond + (token + 0.5) * tokenSeconds
    const sounds = ranges.some(({ start, end }) => start <= middle && middle < end)
    if (!sounds) input[2 * token + 1] = 1
    else if (saysWhere) input[2 * token] = 1
  }
  return input
}
