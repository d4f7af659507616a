/** A compute thread whose model takes a while, then returns a quarter of each sample, or fails. */

import {
  ComputeLostError,
  DeviceError,
  DeviceMemoryError,
  ModelError,
} from '../../engine/compute/compute-errors.ts'
import type { Compute as AnyCompute } from '../../engine/compute/compute.ts'
import type { ChunkRequest, HeadResult } from '../../models/model.ts'
import type { Calls } from './calls.ts'
import type { Process } from './scheduler.ts'

const FAULTS = ['model fails', 'device fails', 'no memory', 'compute lost', 'hangs'] as const
const STEPS_MAX = 4
const STEP_MS = [20, 1_000] as const
const HANG_MS = [60_000, 900_000] as const

type Compute = Pick<AnyCompute, 'prepare' | 'open' | 'step' | 'close' | 'discard'>

export class StubModel implements Compute {
  readonly #owner: Process
  readonly #calls: Calls
  readonly #lanes = new Map<number, ChunkRequest>()
  #opened = 0

  constructor(owner: Process, calls: Calls) {
    this.#owner = owner
    this.#calls = calls
  }

  /** Number of open lanes. */
  get lanes(): number {
    return this.#lanes.size
  }

  prepare: Compute['prepare'] = (order) => this.#after('prepare a chunk', () => order)

  open: Compute['open'] = ({ request, heads }) =>
    this.#after('open lanes', () =>
      heads.map((_, head) => {
        const lane = (this.#opened += 1)
        this.#lanes.set(lane, request)
        const frames = request.chunk.channels[0]!.length
        return { lane, heads: [head], rows: 1, frames, steps: 1 + (lane % STEPS_MAX) }
      }),
    )

  step: Compute['step'] = (ids) =>
    this.#after('step', () => {
      if (ids.every((id) => this.#lanes.has(id))) return
      throw new ComputeLostError('a lane was lost with its thread')
    })

  close: Compute['close'] = (id) => {
    const read = this.#after('close lane', () => this.#resultOf(id))
    return read.finally(() => this.#lanes.delete(id)) // even if it can't be read
  }

  discard: Compute['discard'] = async (id) => void this.#lanes.delete(id)

  #resultOf(id: number): HeadResult[] {
    const lane = this.#lanes.get(id)
    if (!lane) throw new ComputeLostError('the lane was lost with its thread')
    const { channels } = lane.chunk
    return [{ target: channels.map((wave) => wave.map((sample) => sample / 4)), score: 0 }]
  }

  #after<T>(name: string, effect: () => T): Promise<T> {
    const { scheduler, choices } = this.#calls
    const place = `${this.#owner.name} ${name}`
    const fault = choices.fault(place, FAULTS)
    const [least, most] = fault === 'hangs' ? HANG_MS : STEP_MS
    const ms = choices.between(`${place} time`, least, most)
    return scheduler.delay(this.#owner, ms, place).then(() => {
      if (fault === 'compute lost') {
        this.#lanes.clear() // the lanes end with their thread
        throw new ComputeLostError('the compute thread ended')
      }
      if (fault === 'model fails') throw new ModelError('the model failed')
      if (fault === 'device fails') throw new DeviceError('the device failed')
      if (fault === 'no memory') throw new DeviceMemoryError('out of memory')
      return effect()
    })
  }
}
