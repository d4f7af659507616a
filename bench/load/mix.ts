/** Defines the lengths of media in a load, and when its requests are due. */

import { exponential } from '../../test/support/basics/random.ts'

export interface MixPart {
  seconds: number
  /** Frequency relative to the other parts. */
  weight: number
}

export interface Arrival {
  /** Measured from the start of the load. */
  dueMs: number
  /** Length of its media. */
  audioSeconds: number
}

export const DEFAULT_MIX = '4s:4,30s:4,180s:1'

const PART = /^(\d+(?:\.\d+)?)s:(\d+(?:\.\d+)?)$/
const SECONDS_MAX = 7_200

/**
 * Reads a mix such as `4s:4,30s:4,180s:1`: of nine requests, four have 4 s, four 30 s, and one 180
 * s.
 * @throws Error that says what would be right
 */
export function parseMix(text: string): MixPart[] {
  const parts = text.split(',').map((partText) => {
    const [, seconds, weight] = PART.exec(partText.trim()) ?? []
    const part = { seconds: Number(seconds), weight: Number(weight) }
    const isRight = part.seconds > 0 && part.seconds <= SECONDS_MAX && part.weight > 0
    if (!isRight) throw new Error(`a mix is such as ${DEFAULT_MIX}, not "${text}"`)
    return part
  })
  if (new Set(parts.map(({ seconds }) => seconds)).size < parts.length) {
    throw new Error(`each length stands once in a mix, unlike "${text}"`)
  }
  return parts
}

/** Returns the mean length of a request. */
export const meanSeconds = (mix: readonly MixPart[]): number =>
  sumOf(mix.map(({ seconds, weight }) => seconds * weight)) / sumOf(mix.map((part) => part.weight))

/** Poisson arrivals: gaps are exponential, lengths independent of each other. */
export function poissonArrivals(
  mix: readonly MixPart[],
  perSecond: number,
  seconds: number,
  random: () => number,
): Arrival[] {
  const arrivals: Arrival[] = []
  let dueMs = (1_000 * exponential(random)) / perSecond
  while (dueMs < 1_000 * seconds) {
    arrivals.push({ dueMs, audioSeconds: drawLength(mix, random()) })
    dueMs += (1_000 * exponential(random)) / perSecond
  }
  return arrivals
}

/**
 * Returns the lengths of requests that last about `audioSeconds` in total, in the mix's
 * proportions, with at least one of every length. The longest come first, so that none of them runs
 * alone at the end.
 */
export function fixedWork(mix: readonly MixPart[], audioSeconds: number): number[] {
  const requests = audioSeconds / meanSeconds(mix)
  const weights = sumOf(mix.map(({ weight }) => weight))
  return [...mix]
    .sort((a, b) => b.seconds - a.seconds)
    .flatMap(({ seconds, weight }) => {
      const count = Math.max(1, Math.round((requests * weight) / weights))
      return Array.from({ length: count }, () => seconds)
    })
}

/** @param at from 0 to 1 */
function drawLength(mix: readonly MixPart[], at: number): number {
  let left = at * sumOf(mix.map(({ weight }) => weight))
  for (const { seconds, weight } of mix) {
    left -= weight
    if (left < 0) return seconds
  }
  return mix.at(-1)!.seconds
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, x) => sum + x, 0)
