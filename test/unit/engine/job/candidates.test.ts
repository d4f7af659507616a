import assert from 'node:assert/strict'
import test from 'node:test'
import { bestCandidate } from '../../../../engine/job/candidates.ts'
import type { LaneResult } from '../../../../models/model.ts'

const wave = (samples: number) => Float32Array.from({ length: samples }, (_, i) => i)

/** Answers the scores in turn, and keeps what it was given. */
function fakeModel(scores: readonly number[]) {
  const given: Float32Array[][] = []
  let atOnce = 0
  let atOnceMost = 0
  const separate = async (channels: Float32Array[], candidate: number): Promise<LaneResult> => {
    given.push(channels)
    atOnceMost = Math.max(atOnceMost, ++atOnce)
    await new Promise(setImmediate)
    atOnce -= 1
    return {
      target: [Float32Array.of(candidate)],
      residual: [],
      score: scores[candidate] ?? Number.NaN,
    }
  }
  return { given, separate, atOnceMost: () => atOnceMost }
}

test('the candidate of the highest score is kept; the first of equals', async () => {
  const { separate } = fakeModel([0.2, 0.9, 0.4, 0.9])
  const { best, scores, chosen } = await bestCandidate([wave(10)], 4, separate)
  assert.deepEqual(best.target, [Float32Array.of(1)])
  assert.deepEqual(scores, [0.2, 0.9, 0.4, 0.9])
  assert.equal(chosen, 1)
})

test('each candidate has the chunk to itself, for its memory is handed over', async () => {
  const { given, separate } = fakeModel([1, 2, 3])
  await bestCandidate([wave(10), wave(10)], 3, separate)
  const buffers = new Set(given.flat().map(({ buffer }) => buffer))
  assert.equal(buffers.size, 6)
  for (const channels of given) assert.deepEqual(channels, [wave(10), wave(10)])
})

test('candidates of a long chunk are made a few at a time', async () => {
  const model = fakeModel([1, 2, 3, 4, 5, 6, 7, 8])
  const { chosen } = await bestCandidate([new Float32Array(2 ** 23)], 5, model.separate)
  assert.equal(chosen, 4)
  assert.equal(model.atOnceMost(), 2)
})

test('a score that is no number never wins', async () => {
  const { separate } = fakeModel([0.1, Number.NaN, 0.2])
  assert.equal((await bestCandidate([wave(1)], 3, separate)).chosen, 2)
})

test('what one candidate throws is thrown', async () => {
  const separate = () => Promise.reject(new Error('the model failed'))
  await assert.rejects(bestCandidate([wave(1)], 2, separate), /the model failed/)
})
