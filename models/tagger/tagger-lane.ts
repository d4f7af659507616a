/** One piece of a mixture on its way through the tagger. */
import type { Chunk, HeadResult, Lane } from '../model.ts'
import { upload, type Tensor } from '../tensorflow/tensor.ts'
import { edgeSamples, melFraming, paddedSamples, stepSamples, type MelFraming } from './mel.ts'

export class TaggerLane implements Lane {
  readonly heads = [0]
  readonly rows = 1
  /** How many steps of half a second there are. */
  readonly frames: number
  readonly steps = 1
  stepsDone = 0
  readonly framing: MelFraming
  /** The mean of the channels, with silence before and after. */
  readonly #wave: Float32Array
  /** [frames, classes]. */
  #logits: Tensor | null = null

  constructor({ channels, sampleRate }: Chunk) {
    const samples = channels[0]!.length
    this.framing = melFraming(sampleRate)
    this.frames = Math.max(1, Math.ceil(samples / stepSamples(this.framing)))
    this.#wave = new Float32Array(paddedSamples(this.framing, this.frames))
    const inside = this.#wave.subarray(edgeSamples(this.framing))
    for (const channel of channels) {
      for (let i = 0; i < samples; i += 1) inside[i]! += channel[i]! / channels.length
    }
  }

  /** Lanes with the same value may share a batch. */
  get likeness(): string {
    return `${this.framing.sampleRate} ${this.frames}`
  }

  /** Returns the waves of lanes with equal `likeness`, [lanes, samples]. */
  static waves(lanes: readonly TaggerLane[]): Tensor {
    const length = lanes[0]!.#wave.length
    const waves = new Float32Array(lanes.length * length)
    for (const [i, lane] of lanes.entries()) waves.set(lane.#wave, i * length)
    return upload(waves, [lanes.length, length])
  }

  /** Ends the only step; from here on the lane owns `logits`. */
  advance(logits: Tensor): void {
    this.#logits = logits
    this.stepsDone = 1
  }

  /** Reads the logits, [steps · classes]. */
  result(): HeadResult {
    return { target: [], score: 0, tags: this.#logits!.dataSync<'float32'>().slice() }
  }

  dispose(): void {
    this.#logits?.dispose()
    this.#logits = null
  }
}
