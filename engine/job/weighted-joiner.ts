/**
 * Joins overlapping windows of a signal as a stream: each sample is the weighted mean of all
 * windows that contain it. (Overlap-add as in Demucs' `apply_model` and in `demix` of
 * Music-Source-Separation-Training.)
 */
export class WeightedJoiner {
  /** The sums of each row that later windows may still add to, and where they start. */
  #sums: Float32Array[] = []
  #weightSums = new Float32Array(0)
  #start = 0

  /**
   * Takes a window, which must not start before the previous one, and returns the samples of each
   * row before `start`, which no later window can change. Samples without any weight are 0.
   * @param rows samples of each row, as many as `weights`
   * @param weights how much each sample counts, at least 0
   */
  push(start: number, rows: readonly Float32Array[], weights: Float32Array): Float32Array[] {
    const settled = this.#settle(start - this.#start)
    const length = Math.max(weights.length, this.#weightSums.length)
    this.#weightSums = extendTo(this.#weightSums, length)
    for (let i = 0; i < weights.length; i += 1) this.#weightSums[i]! += weights[i]!
    this.#sums = rows.map((row, r) => {
      const sum = extendTo(this.#sums[r], length)
      for (let i = 0; i < weights.length; i += 1) sum[i]! += weights[i]! * row[i]!
      return sum
    })
    return settled
  }

  /** Returns the samples that are left after the last window. */
  finish(): Float32Array[] {
    return this.#settle(this.#weightSums.length)
  }

  #settle(count: number): Float32Array[] {
    const weightSums = this.#weightSums
    const settled = this.#sums.map((sum) => {
      const mean = sum.slice(0, count)
      for (let i = 0; i < mean.length; i += 1) {
        mean[i] = weightSums[i]! > 0 ? mean[i]! / weightSums[i]! : 0
      }
      return mean
    })
    this.#sums = this.#sums.map((sum) => sum.slice(count))
    this.#weightSums = weightSums.slice(count)
    this.#start += count
    return settled
  }
}

function extendTo(wave: Float32Array | undefined, length: number): Float32Array<ArrayBuffer> {
  const longer = new Float32Array(length)
  if (wave) longer.set(wave)
  return longer
}
