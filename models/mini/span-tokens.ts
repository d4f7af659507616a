/** Turns spans into the network's input, token by token. */
import type { Span } from '../model.ts'
import { audibleRanges, extendSpans } from '../lanes/span-gain.ts'
import type { TokenClock } from './token-clock.ts'

/**
 * The spans as the network's input: two numbers for each token, by its middle. The first is 1 where
 * a span states that the target sounds, the second where one states that it does not; both are 0
 * where no span states anything. [tokens · 2], as `hint` of the training's mixtures makes them.
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
