/**
 * Makes the targets of prompts from separated sounds, so that together they never take more of the
 * mixture than there is.
 *
 * Models answer each prompt separately. If two answers contain the same part of the mixture
 * ("drums" and "kick drum"), both targets would contain it and the residual would contain it
 * inverted. So the answers compete in every bin of a short-time spectrum. The share of each is the
 * part of the mixture that it explains, its projection on the mixture. Where the shares add up to
 * more than one, all are lowered in proportion until they add up to one.
 */

import { SampleQueue } from '../chunks.ts'
import { CompetingFrame, HOP, WINDOW, type TargetRecipe } from './competing-frame.ts'

/** Planar samples `[channels][samples]` of the same length, of a mixture and its targets. */
export interface MixedTargets {
  mixture: Float32Array[]
  targets: Float32Array[][]
}

/** It streams, and holds back up to two hops of its input. */
export class TargetMixer {
  readonly #channels: number
  readonly #frame: CompetingFrame
  /** The mixture, followed by the sounds. */
  readonly #waves: readonly SampleQueue[]
  /** [targets][channels]: the second half of the last frame of each. */
  #tails: Float32Array[][]
  /** Frame k covers hops k - 1 and k, and makes hop k - 1 final. */
  #frames = 0

  /** @param sounds how many there are; recipes refer to them by index */
  constructor(recipes: readonly TargetRecipe[], sounds: number, channels: number) {
    this.#channels = channels
    this.#frame = new CompetingFrame(recipes, sounds)
    this.#waves = Array.from({ length: sounds + 1 }, () => new SampleQueue(channels))
    this.#tails = recipes.map(() => this.#silence(HOP))
  }

  /**
   * Takes the next samples of the mixture and of each sound, together with their memory.
   * @returns the samples that are final now, perhaps none
   */
  add(mixture: Float32Array[], sounds: readonly Float32Array[][]): MixedTargets {
    for (const [i, wave] of [mixture, ...sounds].entries()) this.#waves[i]!.push(wave)
    return this.#mix(Math.floor(this.#end / HOP) - this.#frames)
  }

  /** Returns the remaining samples. */
  finish(): MixedTargets {
    const end = this.#end
    const { mixture, targets } = this.#mix(Math.ceil(end / HOP) + 1 - this.#frames)
    const past = HOP * (this.#frames - 1) - end
    const cut = (waves: Float32Array[]) => waves.map((wave) => wave.subarray(0, wave.length - past))
    return { mixture: cut(mixture), targets: targets.map(cut) }
  }

  /** How many samples have been added. */
  get #end(): number {
    const { startSample, length } = this.#waves[0]!
    return startSample + length
  }

  #mix(frames: number): MixedTargets {
    const first = this.#frames
    const start = HOP * Math.max(0, first - 1)
    const samples = Math.max(0, HOP * (first + frames - 1) - start)
    const targets = this.#tails.map(() => this.#silence(samples))
    for (; this.#frames < first + frames; this.#frames += 1) {
      const frameStart = HOP * (this.#frames - 1)
      const waves = this.#waves.map((wave) => wave.read(frameStart, WINDOW))
      for (let c = 0; c < this.#channels; c += 1) {
        const mixed = this.#frame.mix(waves.map((channels) => channels[c]!))
        for (const [t, wave] of mixed.entries()) {
          const tail = this.#tails[t]![c]!
          if (this.#frames > 0) {
            const settled = targets[t]![c]!.subarray(frameStart - start)
            for (let i = 0; i < HOP; i += 1) settled[i] = tail[i]! + wave[i]!
          }
          tail.set(wave.subarray(HOP))
        }
      }
    }
    const mixture = this.#waves[0]!.read(start, samples)
    for (const wave of this.#waves) wave.dropBefore(HOP * (this.#frames - 1))
    return { mixture, targets }
  }

  #silence(samples: number): Float32Array[] {
    return Array.from({ length: this.#channels }, () => new Float32Array(samples))
  }
}
