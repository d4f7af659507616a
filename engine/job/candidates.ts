/**
 * Separates several candidates of a chunk, and keeps the one that the model scores highest.
 *
 * The choice is made chunk by chunk. A change of candidate from one chunk to the next makes no
 * seam: all candidates of a chunk are inpainted from the kept one of the chunk before, where the
 * model supports it, and are near each other where it does not. To rank whole files, all candidates
 * of a two-hour file would have to be kept.
 */

import type { LaneResult } from '../../models/model.ts'
import { allSettledOrThrow } from './all-settled-or-throw.ts'

/** Candidates of a chunk that are under way together hold no more samples than this: 64 MiB. */
const SAMPLES_AT_ONCE_MAX = 2 ** 24

export interface Ranked {
  best: LaneResult
  /** Of every candidate, in order. */
  scores: number[]
  /** Which one is `best`, from 0. */
  chosen: number
}

/**
 * @param channels the chunk; its memory is transferred
 * @param separate makes one candidate of a copy of the chunk, whose memory is handed over
 * @throws what `separate` throws, once no candidate is under way
 */
export async function bestCandidate(
  channels: Float32Array[],
  count: number,
  separate: (channels: Float32Array[], candidate: number) => Promise<LaneResult>,
): Promise<Ranked> {
  const samples = channels.length * (channels[0]?.length ?? 0)
  const atOnce = Math.max(1, Math.floor(SAMPLES_AT_ONCE_MAX / Math.max(1, samples)))
  const scores: number[] = []
  let best: LaneResult | null = null
  let chosen = 0
  for (let first = 0; first < count; first += atOnce) {
    const candidates = Array.from({ length: Math.min(atOnce, count - first) }, (_, i) => first + i)
    const results = await allSettledOrThrow(
      candidates.map((candidate) => {
        const isLast = candidate === count - 1
        return separate(isLast ? channels : channels.map((wave) => wave.slice()), candidate)
      }),
    )
    for (const [i, result] of results.entries()) {
      scores.push(result.score)
      if (best && !(result.score > best.score)) continue
      best = result
      chosen = first + i
    }
  }
  if (!best) throw new Error('at least one candidate is made')
  return { best, scores, chosen }
}
