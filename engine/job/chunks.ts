/**
 * Cuts a mixture of any length into chunks and joins their results. It streams, so memory is
 * bounded by the chunks in flight. All chunks of a longer mixture have the same length, so that
 * they can share batches: the last one starts earlier rather than being shorter (except by less
 * than a frame, if chunks must start at whole frames).
 */

import type { Joining, ModelDescription } from '../../models/model.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import { WeightedJoiner } from './weighted-joiner.ts'

export interface ChunkPlan {
  /** Length of every chunk; a shorter mixture is one chunk of its own length. */
  chunkSamples: number
  /** Over how many samples adjacent chunks are cross-faded; less than `chunkSamples`. */
  overlapSamples: number
  /** Chunks start at multiples of this, and both numbers above are multiples of it. */
  frameSamples: number
}

/** Planar audio of a chunk, `[channels][samples]`, and where it starts in the mixture. */
export interface MixtureChunk {
  index: number
  startSample: number
  /** How many samples at its end the next chunk repeats; 0 for the last chunk. */
  sharedSamples: number
  channels: Float32Array[]
}

/** A chunk has at most this many samples in all its channels: 64 MiB. */
const CHUNK_SAMPLES_MAX = 2 ** 24

interface PlanOptions {
  /** Sample rate of the chunks in hertz. */
  sampleRate: number
  channels: number
  /** The request's `max_chunk_duration` and `chunk_overlap`, in seconds. */
  chunkSecondsMax: number
  overlapSeconds: number
  /** The best chunk length and overlap for the model, in seconds. */
  modelChunkSecondsMax: number
  modelOverlapSecondsMax: number
  /** Samples in a frame of the model; chunks start at whole frames. */
  frameSamples: number
  /** The model's fixed chunks, which override everything else. */
  fixedChunks?: ModelDescription['fixedChunks']
}

/**
 * Returns the plan within the limits of the request, the model and memory. Each chunk needs a lane,
 * however short it is, so without `chunkSecondsMin` the work would have no bound.
 */
export function planChunks(options: PlanOptions): ChunkPlan {
  const { sampleRate, channels, frameSamples, fixedChunks } = options
  if (fixedChunks) {
    const { samples, hop } = fixedChunks
    return { chunkSamples: samples, overlapSamples: samples - hop, frameSamples }
  }
  const wholeFrames = (samples: number) => samples - (samples % frameSamples)
  const secondsMax = Math.max(options.chunkSecondsMax, LIMITS.chunkSecondsMin)
  const chunkSeconds = Math.min(secondsMax, options.modelChunkSecondsMax)
  const samplesMax = Math.round(chunkSeconds * sampleRate)
  const samplesThatFit = Math.min(samplesMax, Math.floor(CHUNK_SAMPLES_MAX / channels))
  const chunkSamples = Math.max(frameSamples, wholeFrames(samplesThatFit))
  const overlapSeconds = Math.min(options.overlapSeconds, options.modelOverlapSecondsMax)
  // Beyond half a chunk, three chunks would overlap and the work would more than double.
  const overlapMax = Math.floor(chunkSamples / 2)
  const overlap = Math.min(Math.round(overlapSeconds * sampleRate), overlapMax)
  return { chunkSamples, overlapSamples: wholeFrames(overlap), frameSamples }
}

/** How many chunks a mixture of `samples` samples has; 0 if it is empty. */
export function chunkCount(samples: number, { chunkSamples, overlapSamples }: ChunkPlan): number {
  if (samples <= chunkSamples) return samples > 0 ? 1 : 0
  return 1 + Math.ceil((samples - chunkSamples) / (chunkSamples - overlapSamples))
}

/** Cuts planar blocks of any length into chunks, each as soon as it is complete. */
export class ChunkCutter {
  readonly #plan: ChunkPlan
  readonly #held: SampleQueue
  #index = 0
  #startSample = 0
  #emittedEnd = 0

  constructor(channels: number, plan: ChunkPlan) {
    this.#plan = plan
    this.#held = new SampleQueue(channels)
  }

  /** Yields the chunks that the next block completes; the block is kept. */
  *add(block: Float32Array[]): Generator<MixtureChunk> {
    const { chunkSamples, overlapSamples } = this.#plan
    const held = this.#held
    held.push(block)
    // A chunk is cut only once one more sample has arrived, so that the last chunk is never empty.
    while (held.length > chunkSamples + (this.#startSample - held.startSample)) {
      const startSample = this.#startSample
      const channels = held.read(startSample, chunkSamples)
      yield { index: this.#index, startSample, sharedSamples: overlapSamples, channels }
      this.#emittedEnd = startSample + chunkSamples
      this.#index += 1
      this.#startSample += chunkSamples - overlapSamples
      // A whole chunk is kept, because the last one may have to start earlier.
      held.dropBefore(this.#emittedEnd - chunkSamples)
    }
  }

  *finish(): Generator<MixtureChunk> {
    const { chunkSamples, frameSamples } = this.#plan
    const held = this.#held
    const end = held.startSample + held.length
    if (end === this.#emittedEnd) return
    const reached = Math.max(0, end - chunkSamples)
    const lastStart = frameSamples * Math.ceil(reached / frameSamples)
    const channels = held.read(lastStart, end - lastStart)
    yield { index: this.#index, startSample: lastStart, sharedSamples: 0, channels }
  }
}

/** Joins the results of chunks in order. */
export interface ChunkJoiner {
  /** Takes the next chunk and its memory; returns the planar samples that are final now. */
  push(startSample: number, channels: Float32Array[]): Float32Array[]
  /** Returns the samples that are left after the last chunk. */
  finish(): Float32Array[]
}

export function createJoiner(joining: Joining, plan: ChunkPlan): ChunkJoiner {
  if (joining.kind === 'seam') return new Stitcher(plan)
  const { weights } = joining
  const joiner = new WeightedJoiner()
  // A shorter chunk is the only one.
  const weightsOf = (samples: number) =>
    samples < weights.length ? new Float32Array(samples).fill(1) : weights
  return {
    push: (start, channels) => joiner.push(start, channels, weightsOf(channels[0]?.length ?? 0)),
    finish: () => joiner.finish(),
  }
}

/**
 * Cross-fades adjacent chunks over the plan's overlap, at the end of the earlier one, with
 * raised-cosine gains that add up to 1. What the later chunk repeats before that is only context
 * and is dropped. (Overlap-add as in Demucs, `demucs/apply.py`, with a seam of fixed length.)
 */
export class Stitcher implements ChunkJoiner {
  readonly #overlap: number
  /** The end of the last chunk, which is still to be faded out, and where it starts. */
  #tail: Float32Array[] = []
  #tailStart = 0

  constructor({ overlapSamples }: Pick<ChunkPlan, 'overlapSamples'>) {
    this.#overlap = overlapSamples
  }

  push(startSample: number, channels: Float32Array[]): Float32Array[] {
    const samples = channels[0]?.length ?? 0
    const tailLength = this.#tail[0]?.length ?? 0
    const from = this.#tailStart - startSample
    const settledEnd = Math.max(from + tailLength, samples - this.#overlap)
    const settled = channels.map((chunk) => chunk.subarray(from, settledEnd))
    for (const [c, tail] of this.#tail.entries()) fadeOver(tail, settled[c]!)
    this.#tail = channels.map((chunk) => chunk.slice(settledEnd))
    this.#tailStart = startSample + settledEnd
    return settled
  }

  finish(): Float32Array[] {
    const rest = this.#tail
    this.#tail = []
    return rest
  }
}

/** Fades the first samples of `next` in while `tail` fades out. */
function fadeOver(tail: Float32Array, next: Float32Array): void {
  const gains = fadeIn(tail.length)
  for (let i = 0; i < tail.length; i += 1) {
    next[i] = gains[i]! * next[i]! + (1 - gains[i]!) * tail[i]!
  }
}

/** Cached between calls, because nearly all seams have the same length. */
let latestGains = new Float64Array(0)

function fadeIn(samples: number): Float64Array {
  if (latestGains.length !== samples) {
    latestGains = Float64Array.from(
      { length: samples },
      (_, i) => 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / samples),
    )
  }
  return latestGains
}

/** A queue of planar samples, read by absolute position and dropped from the front. */
export class SampleQueue {
  readonly #channels: number
  #blocks: Float32Array[][] = []
  startSample = 0
  length = 0

  constructor(channels: number) {
    this.#channels = channels
  }

  push(block: Float32Array[]): void {
    const samples = block[0]?.length ?? 0
    if (samples === 0) return
    this.#blocks.push(block)
    this.length += samples
  }

  /** Returns a copy of `samples` samples from the absolute position `start`. */
  read(start: number, samples: number): Float32Array[] {
    const out = Array.from({ length: this.#channels }, () => new Float32Array(samples))
    let blockStart = this.startSample
    for (const block of this.#blocks) {
      const blockLength = block[0]?.length ?? 0
      const from = Math.max(start, blockStart)
      const to = Math.min(start + samples, blockStart + blockLength)
      if (from < to) {
        for (const [c, channel] of out.entries()) {
          const part = block[c]?.subarray(from - blockStart, to - blockStart)
          if (part) channel.set(part, from - start)
        }
      }
      blockStart += blockLength
    }
    return out
  }

  /**
   * Like `read`, but drops the samples. A block that matches exactly is returned without a copy.
   */
  take(start: number, samples: number): Float32Array[] {
    const first = this.#blocks[0]
    const isWhole = start === this.startSample && samples === first?.[0]?.length
    const taken = isWhole ? first : this.read(start, samples)
    this.dropBefore(start + samples)
    return taken
  }

  /** Drops blocks that end before the absolute position `start`. */
  dropBefore(start: number): void {
    for (;;) {
      const length = this.#blocks[0]?.[0]?.length ?? 0
      if (length === 0 || this.startSample + length > start) return
      this.#blocks.shift()
      this.startSample += length
      this.length -= length
    }
  }
}
