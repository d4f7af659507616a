import assert from 'node:assert/strict'
import test from 'node:test'
import { engineSeconds } from '../../../../../gateway/requests/present/engine-seconds.ts'

const left = (model: string, mediaSeconds: number | null, { weight = 1, done = 0 } = {}) => ({
  model,
  status: done > 0 ? ('IN_PROGRESS' as const) : ('IN_QUEUE' as const),
  mediaSeconds,
  weight,
  done,
})

/** The `nth` request that a model completed, with 60 s of media. */
const completed = (model: string, nth: number, seconds: number, engineId = 'engine-1') => ({
  model,
  engineId,
  mediaSeconds: 60,
  weight: 1,
  startedAt: nth * 100_000,
  finishedAt: nth * 100_000 + seconds * 1_000,
})

test('work counts for the model that is named, at the speed of that model', () => {
  const history = [completed('htdemucs', 1, 60), completed('auto', 2, 6)]
  assert.deepEqual(
    engineSeconds(
      [
        left('auto', 120),
        left('auto', 100, { done: 0.75 }),
        left('htdemucs', 30),
        left('htdemucs', null, { weight: 2 }),
      ],
      history,
    ),
    [
      { model: 'auto', IN_QUEUE: 12, IN_PROGRESS: 2.5 },
      { model: 'htdemucs', IN_QUEUE: 30 + 120, IN_PROGRESS: 0 },
    ],
  )
})

test('more engines do not reduce it', () => {
  const both = [completed('auto', 1, 60), completed('auto', 2, 60), completed('auto', 2, 60, 'b')]
  assert.equal(engineSeconds([left('auto', 600)], both)[0]?.IN_QUEUE, 600)
})

test('a model without completed requests has the speed of all', () => {
  const [, other] = engineSeconds([left('other-model', 60)], [completed('auto', 1, 6)])
  assert.deepEqual(other, { model: 'other-model', IN_QUEUE: 6, IN_PROGRESS: 0 })
})

test('before anything is completed, waiting requests count a minute each', () => {
  const [auto] = engineSeconds([left('auto', null), left('auto', 30)], [])
  assert.deepEqual(auto, { model: 'auto', IN_QUEUE: 90, IN_PROGRESS: 0 })
  assert.deepEqual(engineSeconds([], []), [{ model: 'auto', IN_QUEUE: 0, IN_PROGRESS: 0 }])
})

test('clients that name many models create no more than 21 entries', () => {
  const many = Array.from({ length: 100 }, (_, i) => left(`model-${i}`, i + 1))
  const sums = engineSeconds(many, [])
  assert.equal(sums.length, 21)
  assert.deepEqual(sums[1], { model: 'model-99', IN_QUEUE: 100, IN_PROGRESS: 0 })
  assert.equal(sums.at(-1)?.model, 'other')
  assert.equal(
    sums.reduce((sum, { IN_QUEUE }) => sum + IN_QUEUE, 0),
    5_050,
  )
})
