/** Where the network's tokens lie in a chunk. */

export interface TokenClock {
  tokens: number
  tokenSeconds: number
  /** Of the first token's beginning. */
  startSecond: number
}
