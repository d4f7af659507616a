/** One-minute mixtures of two ESC-10 sounds that come and go, at equal power; and measures. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openMixture } from '../engine/media/read/decode.ts'
import { concatenate } from '../test/support/media/signals.ts'

export const SAMPLE_RATE = 44_100
export const MIXTURE_SECONDS = 60
/** Fold 4: the training's own clips, but what is compared is one setting with another. */
const FOLD = '4-'
/** Mixtures of each pair of sources, with other clips and other pauses. */
const TAKES = 2
/** Target, the other source, and the prompt. */
const SOURCES = [
  ['dog-bark', 'rain', 'dog barking'],
  ['rain', 'dog-bark', 'heavy rain'],
  ['rooster', 'chainsaw', 'rooster crowing'],
  ['chainsaw', 'baby-cry', 'a chainsaw running'],
  ['baby-cry', 'clock-tick', 'baby crying'],
  ['clock-tick', 'helicopter', 'clock ticking'],
  ['helicopter', 'person-sneeze', 'helicopter'],
  ['person-sneeze', 'sea-waves', 'sneezing'],
  ['sea-waves', 'fire-crackling', 'ocean waves'],
  ['fire-crackling', 'rooster', 'crackling fire'],
] as const

export interface LongMixture {
  prompt: string
  target: Float32Array
  mixture: Float32Array
}

/** @param folder ESC-10, one folder a class */
export async function loadMixtures(folder: string): Promise<LongMixture[]> {
  const takes = Array.from({ length: TAKES }, (_, take) =>
    SOURCES.map((source, i) => loadMixture(folder, source, 1 + i + take * SOURCES.length)),
  )
  return Promise.all(takes.flat())
}

async function loadMixture(
  folder: string,
  [targetClass, otherClass, prompt]: (typeof SOURCES)[number],
  seed: number,
): Promise<LongMixture> {
  const target = await loadSource(join(folder, targetClass), seed)
  const other = await loadSource(join(folder, otherClass), seed + 100)
  const level = Math.sqrt(dot(target, target) / dot(other, other))
  return { prompt, target, mixture: target.map((sample, i) => sample + level * other[i]!) }
}

/** A minute of a class's clips of one loudness, each after up to four seconds of nothing. */
async function loadSource(folder: string, seed: number): Promise<Float32Array> {
  const source = new Float32Array(MIXTURE_SECONDS * SAMPLE_RATE)
  const names = (await readdir(folder)).filter((file) => file.startsWith(FOLD)).sort()
  const clips = await Promise.all(names.map((file) => decode(join(folder, file))))
  let start = 0
  for (let i = 0; start < source.length; i += 1) {
    start += Math.round(4 * SAMPLE_RATE * pseudoRandom(seed * 1000 + i))
    const clip = clips[(seed + i) % clips.length]!
    const gain = 0.1 / Math.sqrt(dot(clip, clip) / clip.length + 1e-12)
    const room = Math.max(0, source.length - start)
    const placed = clip.subarray(0, room).map((sample) => gain * sample)
    source.set(placed, Math.min(start, source.length))
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

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** From 0 to 1, the same for the same seed. */
function pseudoRandom(seed: number): number {
  return Math.abs(Math.sin(seed) * 10_000) % 1
}

/** In decibels: the part of the estimate that is the reference, against the rest of it. */
export function siSdr(estimate: Float32Array, reference: Float32Array): number {
  const scale = dot(estimate, reference) / dot(reference, reference)
  const signal = scale ** 2 * dot(reference, reference)
  return 10 * Math.log10(signal / (dot(estimate, estimate) - signal))
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i += 1) sum += a[i]! * b[i]!
  return sum
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
