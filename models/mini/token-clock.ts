/** Where the network's tokens lie in a chunk. */

export interface TokenClock {
  tokens: number
  tokenSeconds: number
  /** Of the first token's beginning. */
  startSecond: number
}

/** `values`, one for each token of `from`, read off at the middles of `to`'s tokens. */
export function readAt(values: Float32Array, from: TokenClock, to: TokenClock): Float32Array {
  const last = from.tokens - 1
  return Float32Array.from({ length: to.tokens }, (_, i) => {
    const second = to.startSecond + (i + 0.5) * to.tokenSeconds
    const place = (second - from.startSecond) / from.tokenSeconds - 0.5
    const at = Math.min(last, Math.max(0, place))
    const left = Math.floor(at)
    const right = Math.min(last, left + 1)
    return values[left]! + (at - left) * (values[right]! - values[left]!)
  })
}
