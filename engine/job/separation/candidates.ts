/**
 * Keeps the candidate of a chunk that the model scores highest.
 * The choice is made chunk by chunk. A change of candidate from one chunk to the next makes no
 * seam: all candidates of a chunk are inpainted from the kept one of the chunk before, where the
 * model supports it, and are near each other where it does not. To rank whole files, all candidates
 * of a two-hour file would have to be kept.
 */

import type { HeadResult } from '../../../models/model.ts'

export interface CandidateRanking {
  best: HeadResult
  /** One per candidate, in order. */
  scores: number[]
  /** The index of `best`. */
  chosen: number
}

/** @param before the candidates ranked so far; null: none @param next those that follow them */
export function rankCandidates(
  before: CandidateRanking | null,
  next: readonly HeadResult[],
): CandidateRanking {
  let [best, chosen] = [before?.best ?? next[0]!, before?.chosen ?? 0]
  const scores = [...(before?.scores ?? [])]
  for (const result of next) {
    if (result.score > best.score) [best, chosen] = [result, scores.length]
    scores.push(result.score)
  }
  return { best, scores, chosen }
}
