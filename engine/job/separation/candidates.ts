/**
 * Keeps the candidate of a chunk that the model scores highest.
 *
 * A change of candidate between chunks is not audible: if the model supports it, all candidates are
 * inpainted from the one kept of the chunk before; otherwise they are similar. Ranking whole files
 * would mean keeping all candidates of hours.
 */

import type { HeadResult } from '../../../models/model.ts'

export interface CandidateRanking {
  best: HeadResult
  /** One per candidate, in order. */
  scores: number[]
  /** Index of `best`. */
  chosen: number
}

/** @param before the candidates ranked so far; null if there are none */
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
