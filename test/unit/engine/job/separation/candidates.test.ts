import assert from 'node:assert/strict'
import test from 'node:test'
import { rankCandidates } from '../../../../../engine/job/separation/candidates.ts'

const results = (...scores: number[]) => scores.map((score) => ({ target: [], score }))

test('the candidate with the highest score is kept; the first of equal ones', () => {
  const candidates = results(0.2, 0.9, 0.4, 0.9)
  const { best, scores, chosen } = rankCandidates(null, candidates)
  assert.equal(best, candidates[1])
  assert.deepEqual([scores, chosen], [[0.2, 0.9, 0.4, 0.9], 1])
})

test('candidates that come later are ranked with those before', () => {
  const first = rankCandidates(null, results(0.3, 0.5))
  assert.deepEqual(rankCandidates(first, results(0.4)).chosen, 1)
  const { chosen, scores } = rankCandidates(first, results(0.4, 0.6))
  assert.deepEqual([chosen, scores], [3, [0.3, 0.5, 0.4, 0.6]])
})

test('a score of NaN never wins', () => {
  assert.equal(rankCandidates(null, results(0.1, Number.NaN, 0.2)).chosen, 2)
})
