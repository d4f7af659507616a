/** A model that splits songs into stems, with one network for all of them or one for each. */
import {
  assertChunk,
  type ChunkRequest,
  type Head,
  type HeadResult,
  type Lane,
  type Model,
  type ModelDescription,
} from '../model.ts'
import { ownPass, PassLane, resultsOf, stepTogether, type Pass } from './pass-lane.ts'
import type { Tensor } from '../tensorflow/tensor.ts'

/** A network, and which of its outputs are used. */
export interface StemsNetwork {
  /** Names of its outputs, in order. */
  sources: readonly string[]
  /** The outputs that are used. */
  stems: readonly string[]
  /** Takes a mixture [batch, width, samples]; returns [batch, sources, width, samples]. */
  separate(mixture: Tensor): Tensor
}

interface Sizes {
  /** Channels in a row. */
  width: number
  /** Samples in every chunk. */
  samples: number
  /** Frames that one chunk adds to a batch. */
  frames: number
  /** Where a shorter chunk lies in the silence around it (default: in the middle). */
  shortAt?: 'start' | 'middle'
  /** As in `PassLanePlan`. */
  mirrorsShort?: boolean
  isLevelled?: boolean
}

type StemsLane = PassLane<StemsNetwork>

export class StemsModel implements Model {
  readonly description: ModelDescription
  readonly warnings = []
  readonly #networks: readonly StemsNetwork[]
  readonly #sizes: Sizes
  readonly #heads = new WeakMap<StemsLane, readonly Head[]>()

  constructor(description: ModelDescription, networks: readonly StemsNetwork[], sizes: Sizes) {
    this.description = description
    this.#networks = networks
    this.#sizes = sizes
  }

  /**
   * Opens one lane for all heads.
   * @throws Error for a stem that the model does not have
   */
  open(request: ChunkRequest, heads: readonly Head[]): Lane[] {
    const { stems, sampleRate } = this.description
    assertChunk(request.chunk, sampleRate, this.#sizes.samples)
    const unknown = heads.flatMap((head) => head.stems ?? []).find((stem) => !stems.includes(stem))
    if (unknown !== undefined) throw new Error(`The model has no stem "${unknown}"`)
    const lane = new PassLane({
      request,
      heads: heads.map((_, i) => i),
      passes: this.#networks.flatMap((network) => this.#passOf(network, heads)),
      ...this.#sizes,
    })
    this.#heads.set(lane, heads)
    return [lane]
  }

  /** Returns the pass of this network, or none if no head needs it. */
  #passOf(network: StemsNetwork, heads: readonly Head[]): Pass<StemsNetwork>[] {
    const outputs = heads.map(({ stems = [] }) =>
      stems
        .filter((stem) => network.stems.includes(stem))
        .map((stem) => network.sources.indexOf(stem)),
    )
    return outputs.some(({ length }) => length > 0) ? [{ network, outputs }] : []
  }

  step(lanes: readonly Lane[]): void {
    stepTogether(
      lanes.map((lane) => ownPass<StemsNetwork>(lane)),
      (network, input) => network.separate(input),
    )
  }

  close(lane: Lane): HeadResult[] {
    const mine = ownPass<StemsNetwork>(lane)
    const heads = this.#heads.get(mine)!
    return resultsOf(mine, (i) => ({ understoodAs: heads[i]!.stems?.join(' and ') ?? null }))
  }

  /** The model keeps nothing on the device between steps. */
  discard(): void {}
}
