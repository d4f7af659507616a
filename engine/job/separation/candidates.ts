/**
 * Keeps the candidate of a chunk that the model scores highest.
 *
 * The choice is made for each chunk. A change of candidate between chunks is not audible: if the
 * model supports it, all candidates of a chunk are inpainted from the one that was kept of the
 * chunk before; otherwise candidates are similar. Ranking whole files would mean keeping all
 * candidates of a two-hour file.
 */

import type { HeadResult } from '../../../models/model.ts'

export interface CandidateRanking {
  best: HeadResult
  /** One per candidate, in order. */
  scores: number[]
  /** Index of `best`. */
  chosen: number
}

/**
 * @param before the candidates ranked so far; null if there are none
 * @param next the candidates that follow
 */
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
