/**
 * Keeps the result of a batch on the device until the first of its lanes is read; then reads all.
 */
import type { Tensor } from '../tensorflow/tensor.ts'
import { ENERGIES } from './batch-graph.ts'
import type { Group } from './batch-plan.ts'

/** Where the numbers of a lane are in the result. */
type LanePlace = Pick<Group, 'channels' | 'targetSamples' | 'tokens'> & { start: number }

/** The output of one lane in one step. */
export class LaneOutput {
  readonly #batch: BatchOutput
  readonly #place: LanePlace
  #isReleased = false

  constructor(batch: BatchOutput, place: LanePlace) {
    this.#batch = batch
    this.#place = place
  }

  /** [tokens + ENERGIES], as returned by `recognisedOf`. */
  get recognised(): Float32Array {
    const { start, channels, targetSamples, tokens } = this.#place
    const first = start + channels * targetSamples
    return this.#batch.read().subarray(first, first + tokens + ENERGIES)
  }

  /** Returns the channels of the target, cut to `samples`, in memory that only they share. */
  takeTarget(samples: number): Float32Array[] {
    const { start, channels, targetSamples } = this.#place
    const all = this.#batch.read()
    const end = start + channels * targetSamples
    const target = this.#batch.lanes === 1 ? all.subarray(start, end) : all.slice(start, end)
    return Array.from({ length: channels }, (_, i) =>
      target.subarray(i * targetSamples, i * targetSamples + samples),
    )
  }

  release(): void {
    if (!this.#isReleased) this.#batch.release()
    this.#isReleased = true
  }
}

class BatchOutput {
  /** How many lanes were computed. */
  readonly lanes: number
  #tensor: Tensor | null
  #values: Float32Array | null = null
  /** How many lanes may still be read. */
  #open: number

  constructor(tensor: Tensor, lanes: number) {
    this.#tensor = tensor
    this.lanes = lanes
    this.#open = lanes
  }

  read(): Float32Array {
    this.#values ??= this.#tensor!.dataSync<'float32'>()
    this.#free()
    return this.#values
  }

  release(): void {
    this.#open -= 1
    if (this.#open === 0) this.#free()
  }

  #free(): void {
    this.#tensor?.dispose()
    this.#tensor = null
  }
}

/** Returns the output of each lane of a batch, by groups; these own `tensor` from then on. */
export function laneOutputs(tensor: Tensor, groups: readonly Group[]): LaneOutput[] {
  const lanes = groups.flatMap((group) => group.parts.flat().map(() => group))
  const batch = new BatchOutput(tensor, lanes.length)
  let start = 0
  return lanes.map(({ channels, targetSamples, tokens }) => {
    const place = { start, channels, targetSamples, tokens }
    start += channels * targetSamples + tokens + ENERGIES
    return new LaneOutput(batch, place)
  })
}
