/**
 * Measures the level of sound, for models that expect songs with mean 0 and standard deviation 1.
 */

/** Level of the mono mix of the channels that a network takes together. */
export interface Level {
  mean: number
  /** Standard deviation; 0 means silence. */
  deviation: number
}

/** Samples louder than this, and NaN, are damaged. */
const SAMPLE_MAX = 1e6

/** Returns the sample, or silence if it is damaged. */
export const zeroIfDamaged = (sample: number): number =>
  Math.abs(sample) < SAMPLE_MAX ? sample : 0

/** Measures sound block by block. Each block is summed about its own mean, to keep precision. */
export class LevelMeter {
  #count = 0
  #mean = 0
  /** Sum of the squared deviations from the mean. */
  #squares = 0

  /** @param sides [channels][samples], all of the same length */
  add(sides: readonly Float32Array[]): void {
    const samples = sides[0]?.length ?? 0
    if (samples === 0) return
    const mono = new Float64Array(samples)
    for (const side of sides) {
      for (let i = 0; i < samples; i += 1) mono[i]! += zeroIfDamaged(side[i]!) / sides.length
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
