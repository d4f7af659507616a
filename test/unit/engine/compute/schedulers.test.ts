import assert from 'node:assert/strict'
import test from 'node:test'
import { BatchBudget } from '../../../../engine/compute/batch-budget.ts'
import { ComputeLostError } from '../../../../engine/compute/compute-errors.ts'
import type { ChunkOrder } from '../../../../engine/compute/compute-messages.ts'
import type { Computes } from '../../../../engine/compute/computes.ts'
import { Schedulers } from '../../../../engine/compute/schedulers.ts'
import type { HeadResult } from '../../../../models/model.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'

const log = createLogger('test', 'silent')

type Compute = ReturnType<Computes['of']>

/** A compute whose lanes take one step, which ends when the gate opens. */
class GatedCompute {
  gate = Promise.resolve()
  restarting: Promise<void> | null = null
  steps = 0
  #lanes = 0

  prepare = async (order: ChunkOrder) => order
  open = async () => [{ lane: ++this.#lanes, heads: [0], rows: 1, frames: 10, steps: 1 }]
  close = async (): Promise<HeadResult[]> => [{ target: [], score: 0 }]
  discard = async () => undefined

  async step() {
    this.steps += 1
    await this.gate
  }
}

function start(computes: Record<string, GatedCompute>) {
  const of = (model: string) => computes[model] as unknown as Compute
  const budgets = Object.keys(computes).map((name): [string, BatchBudget] => [
    name,
    new BatchBudget(1_000, log),
  ])
  const schedulers = new Schedulers({ of }, new Map(budgets), {})
  const separate = (model: string, signal = new AbortController().signal) => {
    const chunk = { channels: [new Float32Array(10)], sampleRate: 1 }
    const request = { chunk, spans: [], acceleration: 'fast' } as const
    const order = { model, request, heads: [{ prompt: 'x', seed: 0 }] }
    const owner = { accountId: 'a', requestId: model }
    return schedulers.separate(order, owner, { signal, onStep: () => undefined })
  }
  return { schedulers, separate, of }
}

/** Returns a promise, and the function that resolves it. */
function gate() {
  let open!: () => void
  const closed = new Promise<void>((resolve) => (open = resolve))
  return { closed, open }
}

test('a slow step on one compute does not delay steps on another', async () => {
  const slow = new GatedCompute()
  const { closed, open } = gate()
  slow.gate = closed
  const { separate, schedulers } = start({ slow, fast: new GatedCompute() })
  const heavy = separate('slow')
  for (let i = 0; i < 3; i += 1) await separate('fast')
  assert.equal(slow.steps, 1)
  assert.deepEqual([schedulers.stats().lanes, schedulers.stats().stepsTotal], [1, 3])
  open()
  await heavy
  assert.deepEqual([schedulers.stats().lanes, schedulers.stats().stepsTotal], [0, 4])
})

test('jobs wait for a compute that restarts, unless they are aborted', async () => {
  const slow = new GatedCompute()
  const { closed, open } = gate()
  slow.restarting = closed
  const { separate } = start({ slow })
  const controller = new AbortController()
  const canceled = separate('slow', controller.signal)
  const other = separate('slow')
  controller.abort(new Error('canceled'))
  await assert.rejects(canceled, /canceled/)
  assert.equal(slow.steps, 0)
  slow.restarting = null
  open()
  await other
  assert.equal(slow.steps, 1)
})

test('the work of a compute that has ended still counts', async () => {
  const one = new GatedCompute()
  const { separate, schedulers, of } = start({ one })
  await separate('one')
  one.gate = Promise.reject(new ComputeLostError('gone'))
  await assert.rejects(separate('one'), ComputeLostError)
  schedulers.ended(of('one'))
  assert.deepEqual([schedulers.stats().lanes, schedulers.stats().stepsTotal], [0, 1])
})
