/**
 * The tagger: for each sound that the built-in model knows, returns how probable it is in every
 * half second. It is a model whose lanes return numbers instead of sound, so that pieces of any
 * requests can share batches. See `card.md`.
 */
import { fileURLToPath } from 'node:url'
import { compiledBy } from '../graph/compiled.ts'
import { groupBy } from '../group-by.ts'
import type { ChunkRequest, Head, HeadResult, Lane, Model, ModelDescription } from '../model.ts'
import { tf, unstackRows, type Tensor } from '../tensorflow/tensor.ts'
import { Weights } from '../checkpoint/weights.ts'
import { PIECE_STEPS, readTaggerConfig, TAGGER, type TaggerConfig } from './config.ts'
import { STEP_SECONDS } from './decisions.ts'
import { logMel, melPower } from './features.ts'
import type { MelFraming } from './mel.ts'
import { loadTaggerNetwork, runTagger } from './network.ts'
import { TaggerLane } from './tagger-lane.ts'

const WEIGHTS_FILE = fileURLToPath(new URL('weights/tagger.safetensors', import.meta.url))

/** @throws Error naming the file if weights are missing, misshapen or unread */
export async function loadTagger(): Promise<Tagger> {
  const config = await readTaggerConfig()
  return Weights.read(WEIGHTS_FILE, (weights) => new Tagger(weights, config))
}

const DESCRIPTION = {
  name: TAGGER,
  summary: 'Names the sounds in every half second.',
  answers: 'text',
  stems: [],
  framesPerSecond: 1 / STEP_SECONDS,
  framesOnCpu: PIECE_STEPS,
  sampleRate: null,
  frameSamples: 1,
  chunkSecondsMax: PIECE_STEPS * STEP_SECONDS,
  fixedChunks: null,
  joining: { kind: 'seam' },
  overlapSecondsMax: { fast: 0, balanced: 0, quality: 0 },
  passes: { fast: 'one pass', balanced: 'one pass', quality: 'one pass' },
  needsPreviousChunk: false,
  givesCandidates: false,
  predictsSpans: false,
  precision: 'float32',
  weightsSha256: '',
} as const

export class Tagger implements Model {
  readonly description: ModelDescription
  readonly warnings = []
  readonly config: TaggerConfig
  readonly #logitsOf: (framing: MelFraming, waves: Tensor) => Tensor

  constructor(weights: Weights, config: TaggerConfig) {
    this.config = config
    const run = runTagger(loadTaggerNetwork(weights, config.sizes))
    this.#logitsOf = compiledBy((framing, waves) =>
      tf.tidy(() => run(logMel(melPower(waves, framing)))),
    )
    this.description = { ...DESCRIPTION, parameters: weights.parameters }
  }

  open({ chunk }: ChunkRequest, _heads: readonly Head[]): Lane[] {
    return [new TaggerLane(chunk)]
  }

  /** Puts lanes of the same rate and length into one batch. */
  step(lanes: readonly Lane[]): void {
    const batches = [...groupBy(lanes.map(ownLane), ({ likeness }) => likeness).values()]
    // Anything that may fail comes before any lane advances, so that the step can be retried.
    const logits = tf.tidy(() =>
      batches.map((group) =>
        unstackRows(this.#logitsOf(group[0]!.framing, TaggerLane.waves(group))),
      ),
    )
    for (const [g, group] of batches.entries()) {
      for (const [i, lane] of group.entries()) lane.advance(logits[g]![i]!)
    }
  }

  close(lane: Lane): HeadResult[] {
    const result = ownLane(lane).result()
    this.discard(lane)
    return [result]
  }

  discard(lane: Lane): void {
    ownLane(lane).dispose()
  }
}

function ownLane(lane: Lane): TaggerLane {
  if (lane instanceof TaggerLane) return lane
  throw new Error('The lane was not opened by this model')
}
