/**
 * Which chunk length and overlap serve the built-in model best? Minutes of two sources that come
 * and go, at equal power, cut and joined as an engine does it.
 *
 *   node --import tsx bench/mini-chunk-length.ts <folder of ESC-10 by class>
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chunkCount, cutChunks, planChunks, Stitcher, type ChunkPlan } from '../engine/chunks.ts'
import { openMixture } from '../engine/media/decode.ts'
import type { Acceleration, Model } from '../models/model.ts'
import { loadMini } from '../models/mini/mini.ts'
import { quantile, report, round } from './report.ts'

const SAMPLE_RATE = 44_100
const MIXTURE_SECONDS = 60
/** Fold 4: the training's own clips, but what is compared is one plan with another. */
const FOLD = '4-'
const BATCH_SIZE = 8
const CHUNK_SECONDS = [5, 10, 20, 30]
const OVERLAP_SECONDS = [1, 2, 5]
/** Mixtures of each pair of sources, with other clips and other pauses. */
const TAKES = 2
/** Target, the other source, and the prompt. */
const SOURCES = [
  ['dog-bark', 'rain', 'dog barking'], ['rain', 'dog-bark', 'heavy rain'],
  ['rooster', 'chainsaw', 'rooster crowing'], ['chainsaw', 'baby-cry', 'a chainsaw running'],
  ['baby-cry', 'clock-tick', 'baby crying'], ['clock-tick', 'helicopter', 'clock ticking'],
  ['helicopter', 'person-sneeze', 'helicopter'], ['person-sneeze', 'sea-waves', 'sneezing'],
  ['sea-waves', 'fire-crackling', 'ocean waves'], ['fire-crackling', 'rooster', 'crackling fire'],
] as const

const folder = process.argv[2]
if (!folder) throw new Error('usage: mini-chunk-length.ts <folder of ESC-10 by class>')
const textEncoderFolder = fileURLToPath(new URL('../.runtime/text-encoder', import.meta.url))
const mini = await loadMini({ textEncoderFolder })
const mixtures = await loadMixtures()

const whole = await improvements({ chunkSeconds: MIXTURE_SECONDS, overlapSeconds: 0 })
for (const chunkSeconds of CHUNK_SECONDS) {
  for (const overlapSeconds of OVERLAP_SECONDS) {
    if (overlapSeconds <= chunkSeconds / 2) await improvements({ chunkSeconds, overlapSeconds })
  }
}
await improvements({ chunkSeconds: 10, overlapSeconds: 1, acceleration: 'quality' })

interface LongMixture {
  prompt: string
  target: Float32Array
  mixture: Float32Array
}

interface Setting {
  chunkSeconds: number
  overlapSeconds: number
  acceleration?: Acceleration
}

/** Reports and returns the improvement of each mixture in decibels. */
async function improvements(setting: Setting): Promise<number[]> {
  const { chunkSeconds, overlapSeconds, acceleration = 'fast' } = setting
  const plan = planChunks({
    sampleRate: SAMPLE_RATE,
    channels: 1,
    chunkSecondsMax: chunkSeconds,
    overlapSeconds,
    modelChunkSecondsMax: chunkSeconds,
    modelOverlapSecondsMax: overlapSeconds,
  })
  const values: number[] = []
  const startedAt = performance.now()
  for (const { prompt, target, mixture } of mixtures) {
    const estimate = await separate(mini, { prompt, mixture, plan, acceleration })
    values.push(siSdr(estimate, target) - siSdr(mixture, target))
  }
  const seconds = (performance.now() - startedAt) / 1000
  report('separation and speed by chunk length and overlap', {
    chunkSeconds,
    overlapSeconds,
    acceleration,
    n: values.length,
    siSdrImprovementMean: round(mean(values)),
    siSdrImprovementMedian: round(quantile(values, 0.5)),
    realTimeFactor: round(seconds / (MIXTURE_SECONDS * mixtures.length)),
    ...(chunkSeconds < MIXTURE_SECONDS && comparison(values, whole)),
  })
  return values
}

/** What the cut gains over the whole minute in one chunk, mixture by mixture. */
function comparison(values: readonly number[], reference: readonly number[]) {
  const gains = values.map((value, i) => value - reference[i]!)
  const variance = mean(gains.map((gain) => (gain - mean(gains)) ** 2))
  const standardError = Math.sqrt(variance / (gains.length - 1))
  return { gainOverWhole: round(mean(gains)), gainStandardError: round(standardError) }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

interface Cut {
  prompt: string
  mixture: Float32Array
  plan: ChunkPlan
  acceleration: Acceleration
}

/** The target of the whole mixture, its chunks in batches. */
async function separate(model: Model, { prompt, mixture, plan, acceleration }: Cut) {
  const blocks = (async function* () { yield [mixture] })()
  const chunks = await collect(cutChunks(blocks, 1, plan))
  const stitcher = new Stitcher(plan)
  const parts: Float32Array[][] = []
  for (let first = 0; first < chunkCount(mixture.length, plan); first += BATCH_SIZE) {
    const batch = chunks.slice(first, first + BATCH_SIZE)
    const lanes = batch.map(({ channels }) => model.open({
      chunk: { channels, sampleRate: SAMPLE_RATE }, prompt, spans: [], acceleration, seed: 0,
    }))
    for (let step = 0; step < lanes[0]!.steps; step += 1) model.step(lanes)
    for (const [i, lane] of lanes.entries()) {
      parts.push(stitcher.push(batch[i]!.startSample, model.close(lane).target))
    }
  }
  return concatenate([...parts, stitcher.finish()].map(([channel]) => channel!))
}

/** In decibels: the part of the estimate that is the reference, against the rest of it. */
function siSdr(estimate: Float32Array, reference: Float32Array): number {
  const scale = dot(estimate, reference) / dot(reference, reference)
  const signal = scale ** 2 * dot(reference, reference)
  return 10 * Math.log10(signal / (dot(estimate, estimate) - signal))
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i += 1) sum += a[i]! * b[i]!
  return sum
}

async function loadMixtures(): Promise<LongMixture[]> {
  const takes = Array.from({ length: TAKES }, (_, take) =>
    SOURCES.map(([target, other, prompt], i) =>
      loadMixture(target, other, prompt, 1 + i + take * SOURCES.length)))
  return Promise.all(takes.flat())
}

async function loadMixture(
  targetClass: string, otherClass: string, prompt: string, seed: number,
): Promise<LongMixture> {
  const target = await loadSource(targetClass, seed)
  const other = await loadSource(otherClass, seed + 100)
  const level = Math.sqrt(dot(target, target) / dot(other, other))
  return { prompt, target, mixture: target.map((sample, i) => sample + level * other[i]!) }
}

/** A minute of a class's clips of one loudness, each after up to four seconds of nothing. */
async function loadSource(name: string, seed: number): Promise<Float32Array> {
  const source = new Float32Array(MIXTURE_SECONDS * SAMPLE_RATE)
  const names = (await readdir(join(folder!, name))).filter((file) => file.startsWith(FOLD)).sort()
  const clips = await Promise.all(names.map((file) => decode(join(folder!, name, file))))
  let start = 0
  for (let i = 0; start < source.length; i += 1) {
    start += Math.round(4 * SAMPLE_RATE * pseudoRandom(seed * 1000 + i))
    const clip = clips[(seed + i) % clips.length]!
    const gain = 0.1 / Math.sqrt(dot(clip, clip) / clip.length + 1e-12)
    const room = Math.max(0, source.length - start)
    const heard = clip.subarray(0, room).map((sample) => gain * sample)
    source.set(heard, Math.min(start, source.length))
    start += clip.length
  }
  return source
}

async function decode(file: string): Promise<Float32Array> {
  const limits = { mediaSecondsMax: 60, channelsMax: 1, sampleRate: SAMPLE_RATE }
  const mixture = await openMixture(file, limits)
  try {
    const blocks = await collect(mixture.blocks())
    return concatenate(blocks.map(([channel]) => channel!))
  } finally {
    await mixture.close()
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

function concatenate(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** From 0 to 1, the same for the same seed. */
function pseudoRandom(seed: number): number {
  return Math.abs(Math.sin(seed) * 10_000) % 1
}
