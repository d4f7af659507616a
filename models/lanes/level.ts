/** The level of sound: some models take songs at a mean of 0 and a deviation of 1. */

/** Of the mono mix of channels that a network takes together. */
export interface Level {
  mean: number
  /** Standard deviation; 0: silence. */
  deviation: number
}

/** Samples beyond this, and what is no number, are read as silence. */
const SAMPLE_MAX = 1e6

export const heard = (sample: number): number => (Math.abs(sample) < SAMPLE_MAX ? sample : 0)

/** Measures sound block by block; sums of blocks are about their own means, so nothing is lost. */
export class LevelMeter {
  #count = 0
  #mean = 0
  /** Sum of the squared distances from the mean. */
  #squares = 0

  /** @param sides [channels][samples], of one length */
  add(sides: readonly Float32Array[]): void {
    const samples = sides[0]?.length ?? 0
    if (samples === 0) return
    const mono = new Float64Array(samples)
    for (const side of sides) {
      for (let i = 0; i < samples; i += 1) mono[i]! += heard(side[i]!) / sides.length
    }
    const mean = mono.reduce((sum, x) => sum + x, 0) / samples
    const squares = mono.reduce((sum, x) => sum + (x - mean) ** 2, 0)
    const apart = mean - this.#mean
    const count = this.#count + samples
    this.#squares += squares + (apart ** 2 * this.#count * samples) / count
    this.#mean += (apart * samples) / count
    this.#count = count
  }

  get level(): Level {
    return { mean: this.#mean, deviation: Math.sqrt(this.#squares / Math.max(1, this.#count)) }
  }
}

/** @param sides [channels][samples] */
export function levelOf(sides: readonly Float32Array[]): Level {
  const meter = new LevelMeter()
  meter.add(sides)
  return meter.level
}
