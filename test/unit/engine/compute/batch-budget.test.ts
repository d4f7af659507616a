import assert from 'node:assert/strict'
import test from 'node:test'
import { BatchBudget, budgetOf, parseBatchFrames } from '../../../../engine/compute/batch-budget.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { PLAIN_MODEL } from '../../../support/models/plain-model.ts'

const log = createLogger('test', 'silent')

const step = (budget: BatchBudget, times: number) => {
  for (let i = 0; i < times; i += 1) budget.stepped()
}

test('each time memory runs out it is halved, never to nothing', () => {
  const budget = new BatchBudget(4_096, log)
  budget.shrink()
  assert.equal(budget.framesMax, 2_048)
  for (let i = 0; i < 20; i += 1) budget.shrink()
  assert.equal(budget.framesMax, 1)
  assert.equal(budget.framesSet, 4_096)
})

test('it grows back step by step, up to the setting', () => {
  const budget = new BatchBudget(1_500, log)
  for (let i = 0; i < 2; i += 1) budget.shrink()
  step(budget, 999)
  assert.equal(budget.framesMax, 375)
  step(budget, 1)
  assert.equal(budget.framesMax, 750)
  for (let i = 0; i < 2; i += 1) step(budget, 1_000)
  assert.equal(budget.framesMax, 1_500)
})

test('a configured size has precedence; otherwise it is what fits the device, up to a limit', () => {
  const framesOf = (configured: number | 'auto', framesFitting: number | null) =>
    budgetOf({ description: PLAIN_MODEL, framesFitting }, configured, log).framesMax
  assert.equal(framesOf(100, 50_000), 100)
  assert.equal(framesOf('auto', 50_000), 50_000)
  assert.equal(framesOf('auto', 1_000_000), 65_536)
  assert.equal(framesOf('auto', null), PLAIN_MODEL.framesOnCpu)
})

test('requests that share a CPU get small batches, unless a size is configured', () => {
  const description = { ...PLAIN_MODEL, framesOnCpu: 1_024, framesOnSharedCpu: 320 }
  const framesFor = (configured: number | 'auto', framesFitting: number | null) => {
    const budget = budgetOf({ description, framesFitting }, configured, log)
    return [1, 2].map((requests) => budget.framesFor(requests))
  }
  assert.deepEqual(framesFor('auto', null), [1_024, 320])
  assert.deepEqual(framesFor('auto', 4_000), [4_000, 4_000], 'on a GPU')
  assert.deepEqual(framesFor(700, null), [700, 700])
  const budget = new BatchBudget(1_024, log, 320)
  budget.framesMax = 600
  assert.deepEqual([budget.framesFor(1), budget.framesFor(2)], [600, 600])
})

test('the setting is a number of frames, or auto', () => {
  assert.deepEqual(['auto', '1', '10000000'].map(parseBatchFrames), ['auto', 1, 10_000_000])
  for (const text of ['0', '1.5', '10000001', 'all']) {
    assert.throws(() => parseBatchFrames(text), /must be auto or a whole number from 1 to 10000000/)
  }
})
