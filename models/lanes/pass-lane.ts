/** A lane that runs one pass of a network for each row of channels. */
import { groupBy } from '../group-by.ts'
import { channelsOf, rowsFor, sidesOf } from './channel-rows.ts'
import { zeroIfDamaged, levelOf, type Level } from './level.ts'
import type { ChunkRequest, HeadResult, Lane } from '../model.ts'
import { applySpans } from './span-gain.ts'
import { tf, type Tensor } from '../tensorflow/tensor.ts'

const UNCHANGED: Level = { mean: 0, deviation: 1 }

/** A network and the outputs to take from it, the same for every row. */
export interface Pass<Network> {
  network: Network
  /**
   * For each head of the lane, the network outputs that add up to this pass's part of the target.
   */
  outputs: readonly (readonly number[])[]
}

export interface PassLanePlan<Network> {
  request: ChunkRequest
  heads: readonly number[]
  passes: readonly Pass<Network>[]
  /** Channels in a row. */
  width: number
  /** Samples that the network takes. */
  samples: number
  /** Where a shorter chunk lies in the silence around it (default: in the middle). */
  shortAt?: 'start' | 'middle'
  /**
   * Whether a chunk at the start that fills more than half is continued by its mirror image instead
   * of silence.
   */
  mirrorsShort?: boolean
  /** Whether the network expects rows whose level has been normalised. */
  isLevelled?: boolean
  /** Frames in a row. */
  frames: number
}

/** One step is one pass over one row, so many channels need no more memory than one row. */
export class PassLane<Network> implements Lane {
  readonly heads: readonly number[]
  readonly rows = 1
  readonly frames: number
  readonly steps: number
  stepsDone = 0
  readonly #plan: PassLanePlan<Network>
  /** The channels on the sides of each row. */
  readonly #places: ReturnType<typeof rowsFor>
  /** [rows][width]. */
  readonly #rows: readonly (readonly Float32Array[])[]
  /** One for each row. */
  readonly #levels: readonly Level[]
  /** [heads][rows][width][samples]: the sum of the passes so far. */
  readonly #targets: Float32Array[][][]

  constructor(plan: PassLanePlan<Network>) {
    this.#plan = plan
    this.heads = plan.heads
    this.frames = plan.frames
    const { channels, channelMask, levels } = plan.request.chunk
    this.#places = rowsFor(channels.length, plan.width, channelMask)
    this.#rows = sidesOf(channels, this.#places)
    this.#levels = plan.isLevelled ? (levels ?? this.#rows.map(levelOf)) : []
    this.#targets = plan.heads.map(() =>
      this.#rows.map((row) => row.map(({ length }) => new Float32Array(length))),
    )
    this.steps = this.#rows.length * plan.passes.length
  }

  /** The network that the next step runs. */
  get network(): Network {
    return this.#pass.network
  }

  get #pass(): Pass<Network> {
    const { passes } = this.#plan
    return passes[Math.floor(this.stepsDone / this.#rows.length)]!
  }

  get #row(): number {
    return this.stepsDone % this.#rows.length
  }

  /** Returns the network's input for the next step, [1, width, samples]. */
  input(): Tensor {
    const { samples, width, mirrorsShort } = this.#plan
    const flat = new Float32Array(width * samples)
    const { mean, deviation } = this.#level
    for (const [side, wave] of this.#rows[this.#row]!.entries()) {
      const start = side * samples + this.#before
      for (let i = 0; i < wave.length && deviation > 0; i += 1) {
        flat[start + i] = (zeroIfDamaged(wave[i]!) - mean) / deviation
      }
      if (!mirrorsShort || wave.length <= Math.floor(samples / 2)) continue
      const last = start + wave.length - 1
      for (let i = 1; i <= samples - wave.length; i += 1) flat[last + i] = flat[last - i]!
    }
    return tf.tensor3d(flat, [1, width, samples])
  }

  get #level(): Level {
    return this.#levels[this.#row] ?? UNCHANGED
  }

  /** The network outputs that the next step needs. */
  get outputs(): readonly number[] {
    return this.#pass.outputs.flat()
  }

  /** Samples of silence before the chunk. */
  get #before(): number {
    const { samples, shortAt } = this.#plan
    return shortAt === 'start' ? 0 : Math.floor((samples - this.#rows[0]![0]!.length) / 2)
  }

  /**
   * Completes a step.
   * @param read which of the network's outputs `values` holds: [read][width][samples]
   */
  advance(values: Float32Array, read: readonly number[]): void {
    const { width, samples } = this.#plan
    const { mean, deviation } = this.#level
    for (const [head, outputs] of this.#pass.outputs.entries()) {
      for (const output of outputs) {
        for (const [side, sum] of this.#targets[head]![this.#row]!.entries()) {
          const start = (read.indexOf(output) * width + side) * samples + this.#before
          for (let i = 0; i < sum.length && deviation > 0; i += 1) {
            sum[i]! += values[start + i]! * deviation + mean
          }
        }
      }
    }
    this.stepsDone += 1
  }

  /** Returns the target of each head, with the gain of its spans. */
  targets(): Float32Array[][] {
    const { chunk, spans } = this.#plan.request
    return this.#targets.map((sides) => {
      const target = channelsOf(sides, this.#places)
      applySpans(target, spans, chunk.sampleRate)
      return target
    })
  }
}

/**
 * Advances lanes by one step, in one batch for each network that they use next.
 * @param run takes input [batch, width, samples] and returns [batch, outputs, width, samples]; if
 *   it runs out of memory, no lane has advanced
 */
export function stepTogether<Network>(
  lanes: readonly PassLane<Network>[],
  run: (network: Network, input: Tensor, lanes: readonly PassLane<Network>[]) => Tensor,
): void {
  if (lanes.some((lane) => lane.stepsDone === lane.steps)) {
    throw new Error('A lane whose steps are done cannot be stepped')
  }
  // Only rows of the same length share a batch, since padding would leak into the end of a shorter
  // one.
  const groups = [...groupBy(lanes, ({ network }) => network).values()].flatMap((group) => [
    ...groupBy(group, ({ frames }) => frames).values(),
  ])
  const advances = groups.map((group) => {
    const read = [...new Set(group.flatMap(({ outputs }) => outputs))].sort((a, b) => a - b)
    const outputs = tf.tidy(() => {
      const all = run(group[0]!.network, tf.concat(group.map((lane) => lane.input())), group)
      // A read takes time in proportion to its size, so outputs that no lane needs stay on the
      // device.
      return read.length === all.shape[1] ? all : tf.gather(all, tf.tensor1d(read, 'int32'), 1)
    })
    try {
      return { group, read, values: outputs.dataSync<'float32'>() }
    } finally {
      outputs.dispose()
    }
  })
  for (const { group, read, values } of advances) {
    const each = values.length / group.length
    for (const [i, lane] of group.entries()) {
      lane.advance(values.subarray(i * each, (i + 1) * each), read)
    }
  }
}

/** The common part of the results of such models, which do not rank candidates. */
export const resultsOf = <Network>(
  lane: PassLane<Network>,
  detailsOf: (head: number) => Partial<HeadResult>,
): HeadResult[] =>
  lane.targets().map((target, i) => ({ target, score: 0, ...detailsOf(lane.heads[i]!) }))

/** @throws Error if another model opened the lane */
export function ownPass<Network>(lane: Lane): PassLane<Network> {
  if (lane instanceof PassLane) return lane as PassLane<Network>
  throw new Error('The lane was not opened by this model')
}
