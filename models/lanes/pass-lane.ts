/** A lane of a model that separates row by row of channels, each with one pass of a network. */
import { groupBy } from '../group-by.ts'
import { channelsOf, rowsFor, sidesOf } from './channel-rows.ts'
import { heard, levelOf, type Level } from './level.ts'
import type { ChunkRequest, HeadResult, Lane } from '../model.ts'
import { applySpans } from './span-gain.ts'
import { tf, type Tensor } from '../tensorflow/tensor.ts'

const UNCHANGED: Level = { mean: 0, deviation: 1 }

/** A question to a network of the model, for every row. */
export interface Pass<Network> {
  network: Network
  /** For each head of the lane, the network's outputs whose sum is its part of the target. */
  outputs: readonly (readonly number[])[]
}

export interface PassLanePlan<Network> {
  request: ChunkRequest
  heads: readonly number[]
  passes: readonly Pass<Network>[]
  /** Channels of a row. */
  width: number
  /** Samples that the network takes. */
  samples: number
  /** Place of a shorter chunk in the silence around it (absent: the middle). */
  shortAt?: 'start' | 'middle'
  /** True if one at the start that is longer than half is mirrored, not followed by silence. */
  mirrorsShort?: boolean
  /** True if the network takes rows whose level has been taken away. */
  isLevelled?: boolean
  /** Frames of a row. */
  frames: number
}

/** Its steps are the passes over each row in turn: so little memory is needed for many channels. */
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
  /** Of each row. */
  readonly #levels: readonly Level[]
  /** Per head and row, [width][samples]: the sum of the passes so far. */
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

  /** The network of the coming step. */
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

  /** Input of the network at the coming step, [1, width, samples]. */
  input(): Tensor {
    const { samples, width, mirrorsShort } = this.#plan
    const flat = new Float32Array(width * samples)
    const { mean, deviation } = this.#level
    for (const [side, wave] of this.#rows[this.#row]!.entries()) {
      const start = side * samples + this.#before
      for (let i = 0; i < wave.length && deviation > 0; i += 1) {
        flat[start + i] = (heard(wave[i]!) - mean) / deviation
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

  /** Outputs of the network that the coming step takes from. */
  get outputs(): readonly number[] {
    return this.#pass.outputs.flat()
  }

  /** Samples of silence before the chunk. */
  get #before(): number {
    const { samples, shortAt } = this.#plan
    return shortAt === 'start' ? 0 : Math.floor((samples - this.#rows[0]![0]!.length) / 2)
  }

  /**
   * Ends a step.
   * @param read which of the network's outputs `values` are, [read][width][samples]
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

  /** The target of each head, shaped by the spans. */
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
 * Advances lanes by a step, in one batch for each network that they are at.
 * @param run input [batch, width, samples] to [batch, outputs, width, samples]; may run out of
 *   memory, and then no lane has moved
 */
export function stepTogether<Network>(
  lanes: readonly PassLane<Network>[],
  run: (network: Network, input: Tensor, lanes: readonly PassLane<Network>[]) => Tensor,
): void {
  if (lanes.some((lane) => lane.stepsDone === lane.steps)) {
    throw new Error('A lane whose steps are done cannot be stepped')
  }
  // Rows of one length share a batch: what one is filled up with would reach its end.
  const groups = [...groupBy(lanes, ({ network }) => network).values()].flatMap((group) => [
    ...groupBy(group, ({ frames }) => frames).values(),
  ])
  const advances = groups.map((group) => {
    const read = [...new Set(group.flatMap(({ outputs }) => outputs))].sort((a, b) => a - b)
    const outputs = tf.tidy(() => {
      const all = run(group[0]!.network, tf.concat(group.map((lane) => lane.input())), group)
      // A read takes as long as it is large, so what nobody wants is left on the device.
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

/** Common part of such a model's answers: it ranks nothing. */
export const resultsOf = <Network>(
  lane: PassLane<Network>,
  detailsOf: (head: number) => Partial<HeadResult>,
): HeadResult[] =>
  lane.targets().map((target, i) => ({ target, score: 0, ...detailsOf(lane.heads[i]!) }))
