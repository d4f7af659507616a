/**
 * Makes the targets of prompts from the sounds that were separated for them, so that together they
 * never take more of the mixture than there is.
 *
 * Models answer each prompt by itself. Where two answers hold the same part of the mixture ("drums"
 * and "kick drum"), the targets would hold it twice and the residual would hold it inverted. So the
 * answers compete in every bin of a short-time spectrum. The share of each is the part of the
 * mixture that it explains: its projection on the mixture. Where shares add up to more than one,
 * all are lowered alike until they add up to one.
 */

import { SampleQueue } from '../chunks.ts'
import { CompetingFrame, HOP, WINDOW, type TargetRecipe } from './competing-frame.ts'

/** Planar samples `[channels][samples]`, of one length, of a mixture and of its targets. */
export interface MixedTargets {
  mixture: Float32Array[]
  targets: Float32Array[][]
}

/** Streams: it holds back up to two hops of what it is given. */
export class TargetMixer {
  readonly #channels: number
  readonly #frame: CompetingFrame
  /** The mixture, then the sounds. */
  readonly #waves: readonly SampleQueue[]
  /** [targets][channels]: the second half of each one's last frame. */
  #tails: Float32Array[][]
  /** Frame k covers the hops k - 1 and k; with it the first of them is settled. */
  #frames = 0

  /** @param sounds how many there are; recipes name them by index */
  constructor(recipes: readonly TargetRecipe[], sounds: number, channels: number) {
    this.#channels = channels
    this.#frame = new CompetingFrame(recipes, sounds)
    this.#waves = Array.from({ length: sounds + 1 }, () => new SampleQueue(channels))
    this.#tails = recipes.map(() => this.#silence(HOP))
  }

  /**
   * Takes the next samples of the mixture and of each sound, with their memory.
   * @returns those that are settled by now, perhaps none
   */
  add(mixture: Float32Array[], sounds: readonly Float32Array[][]): MixedTargets {
    for (const [i, wave] of [mixture, ...sounds].entries()) this.#waves[i]!.push(wave)
    return this.#mix(Math.floor(this.#end / HOP) - this.#frames)
  }

  /** Returns the samples that are left. */
  finish(): MixedTargets {
    const end = this.#end
    const { mixture, targets } = this.#mix(Math.ceil(end / HOP) + 1 - this.#frames)
    const past = HOP * (this.#frames - 1) - end
    const cut = (waves: Float32Array[]) => waves.map((wave) => wave.subarray(0, wave.length - past))
    return { mixture: cut(mixture), targets: targets.map(cut) }
  }

  /** Samples given so far. */
  get #end(): number {
    const { startSample, length } = this.#waves[0]!
    return startSample + length
  }

  /** Mixes the next frames. */
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
