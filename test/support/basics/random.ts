/** Returns a seeded generator of numbers in [0, 1): Mulberry32 (Tommy Ettinger, 2017). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws from the exponential distribution with mean 1. */
export const exponential = (random: () => number): number => -Math.log(1 - random())
