/** The built-in model: one mask per prompt on the spectrum of the mixture. See `card.md`. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  type Chunk,
  type ChunkRequest,
  type Head,
  type HeadResult,
  type Lane,
  type Model,
  type ModelDescription,
} from '../model.ts'
import { groupBy } from '../group-by.ts'
import { LruCache } from '../lru-cache.ts'
import { deviceKind, tf, upload, type Tensor } from '../tensorflow/tensor.ts'
import { Weights } from '../checkpoint/weights.ts'
import type { Precision } from '../tensorflow/precision.ts'
import { readConfig, type MiniConfig } from './config.ts'
import { modelPrompt } from '../text/prompt.ts'
import { loadBatch } from './batch-graph.ts'
import { factsOf, samplesOf } from './batch-input.ts'
import { laneOutputs } from './batch-output.ts'
import { planBatch } from './batch-plan.ts'
import { MiniLane, type MiniHead, type MiniRequest } from './mini-lane.ts'
import { prepareChunk, type MiniChunk } from './prepare-chunk.ts'
import { loadNetwork, type Network } from './network/network.ts'
import { TextEncoder } from './text/text-encoder.ts'
import { nearestNames, understand, type Understanding } from './text/understand.ts'

/** How many prompts are remembered with their meanings. */
const UNDERSTOOD_MAX = 256

export interface MiniOptions {
  /** Holds the text encoder's `model.safetensors`, `tokenizer.json`, `tokenizer_config.json`. */
  textEncoderFolder: string
  /** Precision of the matrix products in the network's blocks. */
  precision?: Precision
  /** Whether lanes of one shape are computed together (default: on a GPU). */
  together?: boolean
}

/** @throws Error naming the file if weights are missing, have the wrong shape or are not used */
export async function loadMini({
  textEncoderFolder,
  precision = 'float32',
  together,
}: MiniOptions): Promise<Model> {
  const weightsFile = fileURLToPath(new URL('weights/model.safetensors', import.meta.url))
  const config = await readConfig(fileURLToPath(new URL('weights/config.json', import.meta.url)))
  const { network, parameters } = Weights.read(weightsFile, (weights) => ({
    network: loadNetwork(weights, config, precision),
    parameters: weights.parameters,
  }))
  const textEncoder = await TextEncoder.load(textEncoderFolder)
  const weightsSha256 = createHash('sha256')
    .update(await readFile(weightsFile))
    .digest('hex')
  const names = config.names.map(({ text }) => text)
  const description = { ...DESCRIPTION, names, precision, parameters, weightsSha256 }
  return new Mini(description, { config, network, textEncoder, together })
}

const DESCRIPTION = {
  name: 'mini',
  summary: 'A small band-split mask network that separates everyday sounds, voices and music.',
  answers: 'text',
  stems: [],
  framesPerSecond: 31.25,
  framesOnCpu: 1_024,
  framesOnSharedCpu: 320, // one chunk
  sampleRate: null,
  frameSamples: 1,
  chunkSecondsMax: 10,
  fixedChunks: null,
  joining: { kind: 'seam' },
  overlapSecondsMax: { fast: 1, balanced: 2, quality: 2 },
  passes: {
    fast: 'one pass',
    balanced: 'one pass',
    quality: 'the mean of three passes with frames of other lengths',
  },
  needsPreviousChunk: false,
  givesCandidates: true,
  predictsSpans: true,
} as const

interface MiniParts {
  config: MiniConfig
  network: Network
  textEncoder: TextEncoder
  together: boolean | undefined
}

interface PromptUnderstanding extends Understanding {
  /** Empty if a known name is near. */
  nearest: readonly string[]
  /** [embeddingDim]. */
  embedding: Float32Array
}

class Mini implements Model {
  readonly description: ModelDescription
  readonly warnings = []
  readonly #parts: MiniParts
  readonly #understood = new LruCache<PromptUnderstanding>(UNDERSTOOD_MAX)
  readonly #batch: ReturnType<typeof loadBatch>
  /**
   * Embeddings of the names, [names, EMBEDDING_DIM], computed for the first prompt that is near
   * none.
   */
  #nameEmbeddings: Tensor | null = null

  constructor(description: ModelDescription, parts: MiniParts) {
    this.description = description
    this.#parts = parts
    this.#batch = loadBatch(parts.network, parts.config)
  }

  open(request: ChunkRequest, heads: readonly Head[]): Lane[] {
    const chunk = isPrepared(request.chunk) ? request.chunk : prepareChunk(request.chunk)
    return this.#sameSounds(heads).map((asked) => this.#open({ ...request, chunk }, asked))
  }

  /** One lane answers all heads that ask for the same sound, whatever their wording. */
  #sameSounds(heads: readonly Head[]): MiniHead[][] {
    const groups = groupBy(
      heads.map((head, index) => ({ ...head, index })),
      (head) => {
        const { understoodAs } = this.#understand(head.prompt)
        const named = understoodAs ?? `"${modelPrompt(head.prompt)}"`
        return `${head.candidate ?? 0} ${this.#isRest(head) ? 'rest' : named}`
      },
    )
    return [...groups.values()]
  }

  #open(request: MiniRequest, asked: readonly MiniHead[]): MiniLane {
    const [head] = asked as readonly [MiniHead]
    const isRest = this.#isRest(head)
    const { embedding } = this.#understand(isRest ? 'speech' : head.prompt)
    return new MiniLane(request, asked, { embedding, isRest })
  }

  /** Whether no known name is near, so that the head gets the mixture without speech. */
  #isRest({ prompt }: Head): boolean {
    const { understoodAs, mayBeVoice } = this.#understand(prompt)
    return understoodAs === null && !mayBeVoice
  }

  #understand(prompt: string): PromptUnderstanding {
    return this.#understood.get(modelPrompt(prompt), () => {
      const { textEncoder, network, config } = this.#parts
      const numbers = tf.tidy(() => {
        const embedding = textEncoder.embed(prompt)
        return tf.concat([network.nameLogits(embedding), embedding], 1).dataSync<'float32'>()
      })
      const logits = numbers.subarray(0, config.names.length)
      const embedding = numbers.subarray(config.names.length)
      const understanding = understand(config.names, logits, modelPrompt(prompt))
      const nearest = understanding.understoodAs === null ? this.#nearest(prompt) : []
      return { ...understanding, nearest, embedding }
    })
  }

  #nearest(prompt: string): string[] {
    const { textEncoder, config } = this.#parts
    const { names } = config
    this.#nameEmbeddings ??= textEncoder.embedAll(names.map(({ text }) => modelPrompt(text)))
    const all = this.#nameEmbeddings
    const likenessOf = () => tf.matMul(all, textEncoder.embed(prompt), false, true)
    return nearestNames(
      names,
      tf.tidy(() => likenessOf().dataSync<'float32'>()),
    )
  }

  step(lanes: readonly Lane[]): void {
    const batch = lanes.map(miniLane)
    const busy = batch.every((lane) => lane.stepsDone < lane.steps)
    if (!busy) throw new Error('A lane whose steps are done cannot be stepped')
    const { together = deviceKind() === 'gpu' } = this.#parts
    const { plan, members } = planBatch(batch, together)
    const numbers = [samplesOf(plan, members), factsOf(plan, members)]
    const isAlike = together && plan.groups.length === 1
    const compute = isAlike ? this.#batch.asOne : this.#batch.inParts
    // Whatever fails does so before any lane advances, so the step can be retried.
    const output = tf.tidy(() => {
      const [samples, facts] = numbers.map((list) => upload(list, [list.length]))
      return tf.keep(compute(plan, samples!, facts!))
    })
    const outputs = laneOutputs(output, plan.groups)
    for (const [i, lane] of members.flatMap(({ lanes }) => lanes).entries()) {
      lane.advance(outputs[i]!)
    }
  }

  close(lane: Lane): HeadResult[] {
    const { stepsDone, steps } = lane
    if (stepsDone < steps) throw new Error(`The lane has done ${stepsDone} of ${steps} steps`)
    const open = miniLane(lane)
    const results = open.results().map((result, i) => {
      const { meanings, understoodAs, nearest } = this.#understand(open.asked[i]!.prompt)
      return { ...result, meanings, understoodAs, nearest }
    })
    this.discard(lane)
    return results
  }

  discard(lane: Lane): void {
    miniLane(lane).dispose()
  }
}

const isPrepared = (chunk: Chunk): chunk is MiniChunk => chunk.prepared !== undefined

function miniLane(lane: Lane): MiniLane {
  if (lane instanceof MiniLane) return lane
  throw new Error('The lane was not opened by this model')
}
