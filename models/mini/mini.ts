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
import { deviceKind, gatherRows, pad, tf, upload, type Tensor } from '../tensor.ts'
import { Weights } from '../checkpoint/weights.ts'
import type { Precision } from '../precision.ts'
import { readConfig, type MiniConfig } from './config.ts'
import { modelPrompt } from '../text/prompt.ts'
import { groupsAlike, LANES_ALIKE } from './lanes-alike.ts'
import { MiniLane, type MiniHead, type MiniRequest } from './mini-lane.ts'
import { prepareChunk, type MiniChunk } from './prepare-chunk.ts'
import { loadNetwork, type Conditioning, type MaskOutput, type Network } from './network/network.ts'
import { TextEncoder } from './text/text-encoder.ts'
import { nearestNames, understand, type Understanding } from './text/understand.ts'

/** Prompts whose understanding is remembered. */
const UNDERSTOOD_MAX = 256

export interface MiniOptions {
  /** Holds the text encoder's `model.safetensors`, `tokenizer.json`, `tokenizer_config.json`. */
  textEncoderFolder: string
  /** For products in the network's blocks. */
  precision?: Precision
  /** Lanes that share a graph (absent: on a GPU four, else one). */
  lanesAlike?: number
}

/** @throws Error naming the file when weights are missing, misshapen or unread */
export async function loadMini({
  textEncoderFolder,
  precision = 'float32',
  lanesAlike,
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
  return new Mini(description, { config, network, textEncoder, lanesAlike })
}

const DESCRIPTION = {
  name: 'mini',
  summary: 'A small band-split mask network that separates everyday sounds, voices and music.',
  answers: 'text',
  stems: [],
  framesPerSecond: 31.25,
  framesOnProcessor: 1_024,
  framesOnSharedProcessor: 320, // one chunk
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
  lanesAlike: number | undefined
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
      for (const asked of this.#sameSounds(heads)) lanes.push(this.#open(request, asked))
    } catch (error) {
      for (const lane of lanes) lane.dispose()
      throw error
    }
    return lanes
  }

  /** Heads that ask for one sound, in whatever words, are answered by one lane. */
  #sameSounds(heads: readonly Head[]): MiniHead[][] {
    const groups = new Map<string, MiniHead[]>()
    for (const [index, head] of heads.entries()) {
      const { understoodAs } = this.#understand(head.prompt)
      const sound = this.#isRest(head) ? 'rest' : (understoodAs ?? `"${modelPrompt(head.prompt)}"`)
      const name = `${head.candidate ?? 0} ${sound}`
      groups.set(name, [...(groups.get(name) ?? []), { ...head, index }])
    }
    return [...groups.values()]
  }

  #open(request: MiniRequest, asked: readonly MiniHead[]): MiniLane {
    const [head] = asked as readonly [MiniHead]
    const isRest = this.#isRest(head)
    const embedding = this.#parts.textEncoder.embed(isRest ? 'speech' : head.prompt)
    return new MiniLane(request, asked, { embedding, isRest })
  }

  /** True if no name is near, and the head gets what speech leaves. */
  #isRest({ prompt }: Head): boolean {
    const { understoodAs, mayBeVoice } = this.#understand(prompt)
    return understoodAs === null && !mayBeVoice
  }

  #understand(prompt: string): Understood {
    return this.#understood.get(modelPrompt(prompt), () => {
      const { textEncoder, network, config } = this.#parts
      const logitsOf = () => network.nameLogits(textEncoder.embed(prompt)).dataSync<'float32'>()
      const logits = tf.tidy(logitsOf)
      const understanding = understand(config.names, logits, modelPrompt(prompt))
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
    const groups = groupsAlike(batch, this.#alike)
    // Failures come before any lane moves on: so the step can be retried.
    const advances = tf.tidy(() => {
      const counts = groups.map((group) => MiniLane.counts(group)) // see `#decode`
      const { maskLogits, activityLogits } = this.#decode(groups.flat())
      const rows = groups.map(rowsOf)
      const firstRows = firstRowsOf(rows)
      return groups.map((group, i) => {
        const { pass, roomTokens } = group[0]!
        const size = [rows[i]!, pass.framing.frames, -1]
        return MiniLane.advances(group, counts[i]!, {
          maskLogits: tf.slice(maskLogits, [firstRows[i]!, 0, 0], size),
          activityLogits: tf.slice(activityLogits, [firstRows[i]!, 0], [rows[i]!, roomTokens]),
        })
      })
    })
    for (const [i, group] of groups.entries()) {
      for (const [k, lane] of group.entries()) lane.advance(advances[i]![k]!)
    }
  }

  get #alike(): number {
    return this.#parts.lanesAlike ?? (deviceKind() === 'gpu' ? LANES_ALIKE : 1)
  }

  /**
   * Each lane's rows of masks; lanes with the same mixture share its encoding. What is uploaded
   * comes first: an upload waits for all that the device was given before.
   */
  #decode(lanes: readonly MiniLane[]): MaskOutput {
    const { network, config } = this.#parts
    const encoders = lanes.map((lane) => lanes.find((one) => one.sharesEncoding(lane))!)
    const groups = groupsAlike([...new Set(encoders)], this.#alike)
    const distinct = groups.flat()
    const firstRows = firstRowsOf(distinct.map(({ rows }) => rows))
    const places = encoders.flatMap((lane) => {
      const first = firstRows[distinct.indexOf(lane)]!
      return Array.from({ length: lane.rows }, (_, row) => first + row)
    })
    const isInPlace = places.length === rowsOf(distinct) && places.every((row, i) => row === i)
    const rows = isInPlace ? null : tf.tensor1d(places, 'int32')
    const forEach = (x: Tensor) => (rows ? gatherRows(x, rows) : x)
    const conditioning = conditioningOf(lanes)
    const valid = validTokens(distinct)
    const counts = groups.map((group) => MiniLane.counts(group))
    const features = groups.map((group, i) => MiniLane.features(group, counts[i]!, config.inputRms))
    const encoded = network.encodeMixture(joinRows(features), valid)
    const streams = { x: forEach(encoded.x), z: forEach(encoded.z) }
    return network.decodeMask(streams, conditioning, forEach(valid))
  }

  close(lane: Lane): HeadResult[] {
    const { stepsDone, steps } = lane
    if (stepsDone < steps) throw new Error(`The lane has done ${stepsDone} of ${steps} steps`)
    const mine = own(lane)
    const results = mine.results().map((result, i) => {
      const { meanings, understoodAs, nearest } = this.#understand(mine.asked[i]!.prompt)
      return { ...result, meanings, understoodAs, nearest }
    })
    this.discard(lane)
    return results
  }

  discard(lane: Lane): void {
    own(lane).dispose()
  }
}

const rowsOf = (lanes: readonly MiniLane[]): number =>
  lanes.reduce((sum, { rows }) => sum + rows, 0)

/** The first row of each part of a batch, given how many each has. */
function firstRowsOf(counts: readonly number[]): number[] {
  let row = 0
  return counts.map((count) => (row += count) - count)
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

/** Prompt and spans of each row at the lanes' coming step. */
function conditioningOf(lanes: readonly MiniLane[]): Conditioning {
  const longest = longestOf(lanes)
  const rows = lanes.flatMap((lane, i) => Array<number>(lane.rows).fill(i))
  const spans = new Float32Array(rows.length * longest * 2)
  for (const [row, i] of rows.entries()) spans.set(lanes[i]!.spanTokens(), row * longest * 2)
  const embeddings = tf.concat(lanes.map(({ embedding }) => embedding)) // [lanes, embeddingDim]
  const isEach = rows.length === lanes.length
  return {
    embedding: isEach ? embeddings : gatherRows(embeddings, tf.tensor1d(rows, 'int32')),
    spans: upload(spans, [rows.length, longest, 2]),
  }
}

const longestOf = (lanes: readonly MiniLane[]): number =>
  Math.max(...lanes.map(({ roomTokens }) => roomTokens))

/** 1 for each token of a lane, 0 for the rest of the room: [rows, tokens]. */
function validTokens(lanes: readonly MiniLane[]): Tensor {
  const longest = longestOf(lanes)
  const valid = new Float32Array(rowsOf(lanes) * longest)
  let row = 0
  for (const { rows, pass } of lanes) {
    for (const end = row + rows; row < end; row += 1) {
      valid.fill(1, row * longest, row * longest + pass.tokens)
    }
  }
  return upload(valid, [row, longest])
}

const isPrepared = (chunk: Chunk): chunk is MiniChunk => chunk.prepared !== undefined

function own(lane: Lane): MiniLane {
  if (lane instanceof MiniLane) return lane
  throw new Error('The lane was not opened by this model')
}
