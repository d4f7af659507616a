/** The built-in model: one mask per prompt over the mixture's spectrum. See `card.md`. */
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
import { LruCache } from '../lru-cache.ts'
import { gatherRows, pad, tf, type Tensor } from '../tensor.ts'
import { Weights } from '../checkpoint/weights.ts'
import type { Precision } from '../precision.ts'
import { readConfig, type MiniConfig } from './config.ts'
import { modelPrompt } from '../text/prompt.ts'
import { MiniLane, type MiniRequest } from './mini-lane.ts'
import { prepareChunk, type MiniChunk } from './prepare-chunk.ts'
import { loadNetwork, type MaskOutput, type Network } from './network/network.ts'
import { TextEncoder } from './text/text-encoder.ts'
import { nearestNames, understand, type Understanding } from './text/understand.ts'

/** Prompts whose understanding is remembered. */
const UNDERSTOOD_MAX = 256

export interface MiniOptions {
  /** Holds the text encoder's `model.safetensors`, `tokenizer.json`, `tokenizer_config.json`. */
  textEncoderFolder: string
  /** For products in the network's blocks. */
  precision?: Precision
}

/** @throws Error naming the file when weights are missing, misshapen or unread */
export async function loadMini({
  textEncoderFolder,
  precision = 'float32',
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
  return new Mini(description, { config, network, textEncoder })
}

const DESCRIPTION = {
  name: 'mini',
  summary: 'A small band-split mask network that separates everyday sounds, voices and music.',
  answers: 'text',
  stems: [],
  framesPerSecond: 31.25,
  framesOnProcessor: 1_024,
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
}

/** `nearest` is empty where a name is near. */
type Understood = Understanding & { nearest: readonly string[] }

class Mini implements Model {
  readonly description: ModelDescription
  readonly warnings = []
  readonly #parts: MiniParts
  readonly #understood = new LruCache<Understood>(UNDERSTOOD_MAX)
  /**
   * Embeddings of the names, [names, EMBEDDING_DIM]: made for the first prompt that none is near.
   */
  #nameEmbeddings: Tensor | null = null

  constructor(description: ModelDescription, parts: MiniParts) {
    this.description = description
    this.#parts = parts
  }

  open(given: ChunkRequest, heads: readonly Head[]): Lane[] {
    const chunk = isPrepared(given.chunk) ? given.chunk : prepareChunk(given.chunk)
    const request = { ...given, chunk }
    const lanes: MiniLane[] = []
    try {
      for (const [index, head] of heads.entries()) lanes.push(this.#open(request, head, index))
    } catch (error) {
      for (const lane of lanes) lane.dispose()
      throw error
    }
    return lanes
  }

  #open(request: MiniRequest, head: Head, index: number): MiniLane {
    const { understoodAs, mayBeVoice } = this.#understand(head.prompt)
    const isRest = understoodAs === null && !mayBeVoice
    const embedding = this.#parts.textEncoder.embed(isRest ? 'speech' : head.prompt)
    return new MiniLane(request, head, { index, embedding, isRest })
  }

  #understand(prompt: string): Understood {
    return this.#understood.get(modelPrompt(prompt), () => {
      const { textEncoder, network, config } = this.#parts
      const logitsOf = () => network.nameLogits(textEncoder.embed(prompt)).dataSync<'float32'>()
      const understanding = understand(config.names, tf.tidy(logitsOf))
      const nearest = understanding.understoodAs === null ? this.#nearest(prompt) : []
      return { ...understanding, nearest }
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
    const batch = lanes.map(own)
    const busy = batch.every((lane) => lane.stepsDone < lane.steps)
    if (!busy) throw new Error('A lane whose steps are done cannot be stepped')
    // Failures come before any lane moves on: so the step can be retried.
    const advances = tf.tidy(() => {
      const { maskLogits, activityLogits } = this.#decode(batch)
      const firstRows = firstRowsOf(batch)
      return batch.map((lane, i) => {
        const { rows, pass, roomTokens } = lane
        const row = firstRows[i]!
        return lane.advanceBy({
          maskLogits: tf.slice(maskLogits, [row, 0, 0], [rows, pass.framing.frames, -1]),
          activityLogits: tf.slice(activityLogits, [row, 0], [rows, roomTokens]),
        })
      })
    })
    for (const [row, lane] of batch.entries()) lane.advance(advances[row]!)
  }

  /** Each lane's rows of masks; lanes with the same mixture share its encoding. */
  #decode(lanes: readonly MiniLane[]): MaskOutput {
    const { network, config } = this.#parts
    const encoders = lanes.map((lane) => lanes.find((one) => one.sharesEncoding(lane))!)
    const distinct = [...new Set(encoders)]
    const valid = validTokens(distinct)
    const features = joinRows(distinct.map((lane) => lane.features(config.inputRms)))
    const encoded = network.encodeMixture(features, valid)
    const firstRows = firstRowsOf(distinct)
    const rows = tf.tensor1d(
      encoders.flatMap((lane) => {
        const first = firstRows[distinct.indexOf(lane)]!
        return Array.from({ length: lane.rows }, (_, row) => first + row)
      }),
      'int32',
    )
    const forEach = (x: Tensor) => (distinct.length < lanes.length ? gatherRows(x, rows) : x)
    const parts = lanes.map((lane) => lane.conditioning())
    const conditioning = {
      embedding: tf.concat(parts.map(({ embedding }) => embedding)), // [batch, embeddingDim]
      spans: joinRows(parts.map(({ spans }) => spans)), // [batch, tokens, 2]
    }
    return network.decodeMask(
      { x: forEach(encoded.x), z: forEach(encoded.z) },
      conditioning,
      forEach(valid),
    )
  }

  close(lane: Lane): HeadResult[] {
    const { stepsDone, steps } = lane
    if (stepsDone < steps) throw new Error(`The lane has done ${stepsDone} of ${steps} steps`)
    const mine = own(lane)
    const { meanings, understoodAs, nearest } = this.#understand(mine.prompt)
    const result = { ...mine.result(), meanings, understoodAs, nearest }
    this.discard(lane)
    return [result]
  }

  discard(lane: Lane): void {
    own(lane).dispose()
  }
}

/** The first row of each lane in a batch. */
function firstRowsOf(lanes: readonly MiniLane[]): number[] {
  let row = 0
  return lanes.map((lane) => {
    const first = row
    row += lane.rows
    return first
  })
}

/** Rows [rows, tokens, …] of each lane one after the other, as long as the longest. */
function joinRows(parts: readonly Tensor[]): Tensor {
  const longest = Math.max(...parts.map(({ shape }) => shape[1]!))
  return tf.concat(parts.map((part) => padTokens(part, longest)))
}

function padTokens(x: Tensor, tokens: number): Tensor {
  const missing = tokens - x.shape[1]!
  if (missing === 0) return x
  const paddings = x.shape.map((_, axis): [number, number] => [0, axis === 1 ? missing : 0])
  return pad(x, paddings)
}

/** 1 for each token of a lane, 0 for the rest of the room: [rows, tokens]. */
function validTokens(lanes: readonly MiniLane[]): Tensor {
  const longest = Math.max(...lanes.map(({ roomTokens }) => roomTokens))
  const valid = lanes.flatMap(({ rows, pass }) => {
    const row = Array.from({ length: longest }, (_, token) => Number(token < pass.tokens))
    return Array<number[]>(rows).fill(row)
  })
  return tf.tensor2d(valid, [valid.length, longest])
}

const isPrepared = (chunk: Chunk): chunk is MiniChunk => chunk.prepared !== undefined

function own(lane: Lane): MiniLane {
  if (lane instanceof MiniLane) return lane
  throw new Error('The lane was not opened by this model')
}
