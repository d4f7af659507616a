/** Times of the tokens in a chunk. */

export interface TokenClock {
  tokens: number
  tokenSeconds: number
  /** Start of the first token. */
  startSecond: number
}
