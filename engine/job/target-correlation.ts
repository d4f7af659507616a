/** How alike the targets of several prompts are. */

/** From here on two targets have more of one sound in common than not. */
const CORRELATION_MIN = 0.7

/**
 * Pearson's correlation, over all channels and without removal of the mean, of each pair of
 * targets. A sound that two prompts describe is in both targets, and subtracted twice from the
 * residual: the client is informed.
 */
export class TargetCorrelation {
  readonly #prompts: readonly string[]
  /** Sums of the products of targets i and j, i ≤ j. */
  readonly #products: number[][]

  constructor(prompts: readonly string[]) {
    this.#prompts = prompts
    this.#products = prompts.map(() => prompts.map(() => 0))
  }

  /** Takes the next planar samples of every target: [prompts][channels][samples]. */
  add(targets: readonly (readonly Float32Array[])[]): void {
    if (targets.length === 1) return
    for (const [i, one] of targets.entries()) {
      for (let j = i; j < targets.length; j += 1) {
        this.#products[i]![j]! += dot(one, targets[j]!)
      }
    }
  }

  /** A sentence for each pair that is alike. */
  describe(): string[] {
    return this.#prompts.flatMap((one, i) =>
      this.#prompts.slice(i + 1).flatMap((other, k) => {
        const correlation = this.#correlation(i, i + 1 + k)
        if (!(correlation >= CORRELATION_MIN)) return []
        return (
          `The targets of "${one}" and "${other}" are alike (correlation ` +
          `${correlation.toFixed(2)}): what both have is subtracted twice from the residual.`
        )
      }),
    )
  }

  /** NaN when one of them is silent. */
  #correlation(i: number, j: number): number {
    const products = this.#products
    return products[i]![j]! / Math.sqrt(products[i]![i]! * products[j]![j]!)
  }
}

const dot = (one: readonly Float32Array[], other: readonly Float32Array[]): number =>
  one.reduce((sum, wave, c) => {
    const second = other[c]!
    for (let i = 0; i < wave.length; i += 1) sum += wave[i]! * second[i]!
    return sum
  }, 0)
