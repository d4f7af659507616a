import assert from 'node:assert/strict'
import test, { mock, type TestContext } from 'node:test'
import { BatchBudget } from '../../../../engine/compute/batch-budget.ts'
import {
  ComputeLostError,
  DeviceError,
  DeviceMemoryError,
  LaneTooLargeError,
  ModelError,
} from '../../../../engine/compute/compute-errors.ts'
import { Scheduler } from '../../../../engine/compute/scheduler.ts'
import type { ChunkOrder } from '../../../../engine/compute/compute-messages.ts'
import type { Priority } from '../../../../shared/priority.ts'
import type { HeadResult } from '../../../../models/model.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'

const log = createLogger('test', 'silent')

const order = (prompt: string, frames = 10, sampleRate = 1): ChunkOrder => ({
  model: 'test',
  request: {
    chunk: { channels: [new Float32Array(frames)], sampleRate },
    spans: [],
    acceleration: 'fast',
  },
  heads: [{ prompt, seed: 0 }],
})

const budgets = (budget = new BatchBudget(1_000, log)) => new Map([['test', budget]])

const owner = (requestId: string, accountId = 'a') => ({ requestId, accountId })

/**
 * A compute thread with one lane per head, each of which takes `steps` steps; `breaks` returns the
 * error for a batch of prompts.
 */
class FakeCompute {
  readonly batches: string[][] = []
  readonly discarded: string[] = []
  readonly #prompts = new Map<number, string>()
  readonly #steps: number
  readonly #breaks: (prompts: readonly string[]) => Error | null
  #lanes = 0

  constructor(steps = 1, breaks: (prompts: readonly string[]) => Error | null = () => null) {
    this.#steps = steps
    this.#breaks = breaks
  }

  async prepare(order: ChunkOrder): Promise<ChunkOrder> {
    return order
  }

  async open({ request, heads }: ChunkOrder) {
    return heads.map(({ prompt }, head) => {
      const lane = ++this.#lanes
      this.#prompts.set(lane, prompt)
      const frames = request.chunk.channels[0]?.length ?? 0
      return { lane, heads: [head], rows: 1, frames, steps: this.#steps }
    })
  }

  async step(lanes: readonly number[]) {
    const prompts = lanes.map((lane) => this.#prompts.get(lane) ?? '')
    this.batches.push(prompts)
    await new Promise(setImmediate) // lets other work run meanwhile, as a thread would
    const error = this.#breaks(prompts)
    if (error) throw error
  }

  async close(lane: number): Promise<HeadResult[]> {
    return [{ target: [Float32Array.of(lane)], score: 0 }]
  }

  async discard(lane: number) {
    this.discarded.push(this.#prompts.get(lane) ?? '')
  }
}

const separate = (scheduler: Scheduler, prompt: string, signal = new AbortController().signal) =>
  scheduler.separate(order(prompt), owner(prompt), { signal, onStep: () => undefined })

const separateAll = (scheduler: Scheduler, prompts: readonly string[]) =>
  Promise.all(prompts.map((prompt) => separate(scheduler, prompt)))

const settle = (scheduler: Scheduler, prompts: readonly string[]) =>
  Promise.allSettled(prompts.map((prompt) => separate(scheduler, prompt)))

const statusesOf = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.map(({ status }) => status)

/** Makes each step take this long, by a clock that otherwise stands still. */
function timeSteps(t: TestContext, compute: FakeCompute, stepMs: number): void {
  let milliseconds = 0
  t.mock.method(performance, 'now', () => milliseconds)
  const step = compute.step.bind(compute)
  compute.step = (lanes) => {
    milliseconds += stepMs
    return step(lanes)
  }
}

test('a chunk that is still being prepared delays no other', async () => {
  const compute = new FakeCompute()
  let prepared = () => {}
  const preparing = new Promise<void>((resolve) => (prepared = resolve))
  compute.prepare = async (order) => {
    if (order.heads[0]!.prompt === 'slow') await preparing
    return order
  }
  const scheduler = new Scheduler(compute, budgets())
  const slow = separate(scheduler, 'slow')
  await separate(scheduler, 'x')
  prepared()
  await slow
  assert.deepEqual(compute.batches, [['x'], ['slow']])
})

test('a chunk aborted while it was prepared is not opened', async () => {
  const compute = new FakeCompute()
  const open = mock.method(compute, 'open')
  let prepared = () => {}
  const preparing = new Promise<void>((resolve) => (prepared = resolve))
  compute.prepare = (order) => preparing.then(() => order)
  const controller = new AbortController()
  const separating = separate(new Scheduler(compute, budgets()), 'x', controller.signal)
  controller.abort(new Error('gone'))
  await assert.rejects(separating, /gone/)
  prepared()
  await new Promise(setImmediate)
  assert.equal(open.mock.callCount(), 0)
})

test("a lane that can't be opened delays no other", async () => {
  const compute = new FakeCompute()
  const open = compute.open.bind(compute)
  compute.open = (asked) =>
    asked.heads[0]!.prompt === 'y' ? Promise.reject(new ModelError('no')) : open(asked)
  const scheduler = new Scheduler(compute, budgets())
  const results = await settle(scheduler, ['x', 'y', 'z'])
  assert.deepEqual(statusesOf(results), ['fulfilled', 'rejected', 'fulfilled'])
  assert.deepEqual(compute.batches, [['x', 'z']])
})

test('lanes of several requests are stepped together; each gets its own result', async () => {
  const compute = new FakeCompute()
  const scheduler = new Scheduler(compute, budgets())
  const results = await separateAll(scheduler, ['x', 'y', 'z'])
  assert.deepEqual(
    results.map(([result]) => result!.target[0]?.[0]),
    [1, 2, 3],
  )
  assert.deepEqual(compute.batches, [['x', 'y', 'z']])
})

test('a lane of several steps is stepped until it is done, with a report after each step', async () => {
  const compute = new FakeCompute(4)
  const scheduler = new Scheduler(compute, budgets())
  let steps = 0
  const onStep = () => {
    steps += 1
  }
  await scheduler.separate(order('x'), owner('x'), { signal: new AbortController().signal, onStep })
  assert.equal(steps, 4)
  assert.equal(scheduler.stats().laneStepsTotal, 4)
  assert.equal(scheduler.stats().lanes, 0)
})

test("each lane of a batch is told its share of the device's seconds", async (t) => {
  const compute = new FakeCompute(2)
  timeSteps(t, compute, 1_000)
  const scheduler = new Scheduler(compute, budgets())
  const served = await Promise.all(
    ['first', 'second'].map(async (name) => {
      let seconds = 0
      const onServed = (share: number) => void (seconds += share)
      const { signal } = new AbortController()
      await scheduler.separate(order(name), owner(name), { signal, onStep() {}, onServed })
      return seconds
    }),
  )
  assert.deepEqual(compute.batches, [
    ['first', 'second'],
    ['first', 'second'],
  ])
  assert.deepEqual(served, [1, 1])
})

/**
 * Serves 40 chunks of a batch request in batches of one chunk, alongside those of an interactive
 * one; returns the requests that the batches belonged to, in order.
 */
async function withBatch(t: TestContext, interactive: number): Promise<string> {
  const compute = new FakeCompute()
  timeSteps(t, compute, 100)
  const scheduler = new Scheduler(compute, budgets(new BatchBudget(10, log)))
  const options = { signal: new AbortController().signal, onStep: () => undefined }
  const serve = (name: string, priority: Priority, chunks: number) =>
    Promise.all(
      Array.from({ length: chunks }, () =>
        scheduler.separate(order(name), { ...owner(name, name), priority }, options),
      ),
    )
  await Promise.all([serve('b', 'batch', 40), serve('i', 'interactive', interactive)])
  t.mock.restoreAll()
  return compute.batches.flat().join('')
}

test('batch requests get a quarter of the device while interactive ones wait, and then all of it', async (t) => {
  const served = await withBatch(t, 30)
  const untilLast = served.slice(0, served.lastIndexOf('i') + 1)
  const shareOfBatch = untilLast.replaceAll('i', '').length / untilLast.length
  assert.ok(shareOfBatch >= 0.15 && shareOfBatch <= 0.3, `${shareOfBatch} in ${served}`)
  assert.match(served, /^.*i(b+)$/, 'the rest')
  assert.equal(await withBatch(t, 0), 'b'.repeat(40))
})

test('a new lane joins those that are half done', async () => {
  const compute = new FakeCompute(3)
  const scheduler = new Scheduler(compute, budgets())
  const first = separate(scheduler, 'first')
  while (compute.batches.length < 1) await new Promise(setImmediate)
  const second = separate(scheduler, 'second')
  await Promise.all([first, second])
  assert.ok(compute.batches.some((batch) => batch.length === 2))
  assert.equal(compute.batches.flat().filter((prompt) => prompt === 'second').length, 3)
})

/**
 * Serves eight long requests of account a, then a short one in parts that come one after the other,
 * as the tagger's and the model's may; counts the batches before each part. A batch takes 0.1 s.
 */
async function withNewcomer(t: TestContext, account: string, framesMax: number) {
  const compute = new FakeCompute()
  timeSteps(t, compute, 100)
  const [open, step] = [compute.open.bind(compute), compute.step.bind(compute)]
  let stepped = Promise.resolve()
  compute.step = (lanes) => (stepped = step(lanes))
  compute.open = (asked) => stepped.then(() => open(asked)) // a thread handles its calls in order
  const scheduler = new Scheduler(compute, budgets(new BatchBudget(framesMax, log)))
  const options = { signal: new AbortController().signal, onStep: () => undefined }
  const long = Array.from({ length: 8 }, async (_, i) => {
    const name = `long ${i}`
    const chunks = Array.from({ length: 40 }, () =>
      scheduler.separate(order(name), owner(name, 'a'), options),
    )
    await Promise.all(chunks)
  })
  while (compute.batches.length < 60) await new Promise(setImmediate)
  const waited: number[] = []
  for (const part of ['short 1', 'short 2', 'short 3']) {
    const before = compute.batches.length
    await scheduler.separate(order(part, 4), owner('short', account), options)
    waited.push(compute.batches.slice(before).findIndex((batch) => batch.includes(part)))
  }
  await Promise.all(long)
  t.mock.restoreAll()
  return waited
}

test('each part of a newcomer with another length is in the next batch, whoever waits', async (t) => {
  for (const account of ['a', 'another']) {
    for (const framesMax of [10, 40]) {
      const waited = await withNewcomer(t, account, framesMax)
      assert.deepEqual(waited, [0, 0, 0], `of account ${account}, with ${framesMax} frames a batch`)
    }
  }
})

test('the first newcomer goes first, and none can keep overtaking it', async () => {
  const compute = new FakeCompute()
  const scheduler = new Scheduler(compute, budgets(new BatchBudget(10, log)))
  await separateAll(scheduler, ['long', 'long', 'one', 'two', 'three'])
  assert.deepEqual(
    compute.batches.map(([name]) => name),
    ['long', 'one', 'two', 'three', 'long'],
  )
})

test('batches are small while several requests are open, and large for a single one', async () => {
  const compute = new FakeCompute()
  const scheduler = new Scheduler(compute, budgets(new BatchBudget(1_000, log, 10)))
  await separateAll(scheduler, ['x', 'x', 'x', 'x', 'y'])
  assert.deepEqual(
    compute.batches.map((batch) => batch.join('')),
    ['x', 'y', 'xxx'],
  )
})

test('a lane that breaks its batch fails alone', async () => {
  const compute = new FakeCompute(1, (prompts) =>
    prompts.includes('bad') ? new ModelError('no') : null,
  )
  const scheduler = new Scheduler(compute, budgets())
  const results = await settle(scheduler, ['x', 'bad', 'y'])
  assert.deepEqual(statusesOf(results), ['fulfilled', 'rejected', 'fulfilled'])
  assert.deepEqual(compute.discarded, ['bad'])
})

test('a batch that does not fit in memory is repeated in halves, and later ones are smaller', async () => {
  const compute = new FakeCompute(2, (prompts) =>
    prompts.length > 2 ? new DeviceMemoryError('OOM') : null,
  )
  const budget = new BatchBudget(80, log)
  const scheduler = new Scheduler(compute, budgets(budget))
  await separateAll(scheduler, ['1', '2', '3', '4', '5'])
  const failed = compute.batches.filter(({ length }) => length > 2)
  assert.deepEqual(
    failed.map(({ length }) => length),
    [4, 4],
  )
  assert.equal(compute.batches.flat().length, 10 + failed.flat().length)
  assert.equal(budget.framesMax, 20)
  assert.deepEqual(compute.discarded, [])
})

test('running out of memory once, for a small batch, halves the budget', async () => {
  let failures = 0
  const compute = new FakeCompute(1, (prompts) =>
    prompts.length > 1 && failures++ === 0 ? new DeviceMemoryError('OOM') : null,
  )
  const budget = new BatchBudget(65_536, log)
  const scheduler = new Scheduler(compute, budgets(budget))
  await separateAll(scheduler, ['1', '2', '3'])
  assert.deepEqual([failures > 0, budget.framesMax], [true, 32_768])
})

test('a batch whose parts do not fit in memory either halves the budget once', async () => {
  const compute = new FakeCompute(1, (prompts) =>
    prompts.length > 1 ? new DeviceMemoryError('OOM') : null,
  )
  const budget = new BatchBudget(65_536, log)
  const scheduler = new Scheduler(compute, budgets(budget))
  await separateAll(
    scheduler,
    Array.from({ length: 16 }, (_, i) => String(i)),
  )
  const wholes = compute.batches.filter(({ length }) => length > 8).length
  assert.equal(budget.framesMax, 65_536 / 2 ** wholes)
})

for (const call of ['open', 'close'] as const) {
  test(`running out of memory in ${call} counts too`, async () => {
    const compute = new FakeCompute()
    compute[call] = (): Promise<never> => Promise.reject(new DeviceMemoryError('OOM'))
    const budget = new BatchBudget(1_000, log)
    let shortages = 0
    const outOfMemory = () => (shortages += 1)
    const scheduler = new Scheduler(compute, budgets(budget), { outOfMemory })
    await assert.rejects(separate(scheduler, 'x'), DeviceMemoryError)
    assert.deepEqual([shortages, budget.framesMax], [1, 500])
  })
}

test('a lane larger than any computed before that does not fit alone is too large', async () => {
  const compute = new FakeCompute(1, (prompts) =>
    prompts.includes('large') ? new DeviceMemoryError('OOM') : null,
  )
  const scheduler = new Scheduler(compute, budgets())
  await assert.rejects(separate(scheduler, 'large'), LaneTooLargeError)
  await separate(scheduler, 'as long')
  await assert.rejects(separate(scheduler, 'large'), DeviceMemoryError, 'the device lacks memory')
})

test('a lane with the same frames at a higher rate counts as larger', async () => {
  const compute = new FakeCompute(1, (prompts) =>
    prompts.includes('large') ? new DeviceMemoryError('OOM') : null,
  )
  const scheduler = new Scheduler(compute, budgets())
  await separate(scheduler, 'as long')
  const options = { signal: new AbortController().signal, onStep: () => undefined }
  const separated = scheduler.separate(order('large', 10, 2), owner('large'), options)
  await assert.rejects(separated, LaneTooLargeError)
})

test('only a batch that was really computed counts', async () => {
  let stepped = 0
  const compute = new FakeCompute(1, (prompts) =>
    prompts.includes('bad') ? new DeviceError('no') : null,
  )
  const scheduler = new Scheduler(compute, budgets(), { stepped: () => (stepped += 1) })
  await assert.rejects(separate(scheduler, 'bad'), DeviceError)
  assert.equal(stepped, 0)
  await separate(scheduler, 'good')
  assert.equal(stepped, 1)
})

test('work counts as computed once its result was read, not when its steps were launched', async () => {
  const compute = new FakeCompute()
  const close = compute.close.bind(compute)
  compute.close = (lane) => (lane === 1 ? Promise.reject(new DeviceError('late')) : close(lane))
  const counts = { stepped: 0, computed: 0 }
  const scheduler = new Scheduler(compute, budgets(), {
    stepped: () => (counts.stepped += 1),
    computed: () => (counts.computed += 1),
  })
  await assert.rejects(separate(scheduler, 'x'), DeviceError)
  assert.deepEqual(counts, { stepped: 1, computed: 0 })
  await separate(scheduler, 'y')
  assert.deepEqual(counts, { stepped: 2, computed: 1 })
})

test('a lost thread fails every lane with ComputeLostError, in its batch or not', async () => {
  const compute = new FakeCompute(2, (prompts) =>
    prompts.includes('x') ? new ComputeLostError('gone') : new ModelError('no such lane is open'),
  )
  for (const framesMax of [1_000, 10]) {
    const scheduler = new Scheduler(compute, budgets(new BatchBudget(framesMax, log)))
    for (const result of await settle(scheduler, ['x', 'y'])) {
      assert.ok(result.status === 'rejected' && result.reason instanceof ComputeLostError)
    }
  }
})

for (const call of ['open', 'step', 'close'] as const) {
  test(`a lane is let go at once if it is aborted while its ${call} hangs`, async () => {
    const compute = new FakeCompute()
    const stop = new AbortController()
    compute[call] = () => {
      setImmediate(() => stop.abort(new Error('enough')))
      return new Promise<never>(() => undefined)
    }
    const scheduler = new Scheduler(compute, budgets())
    await assert.rejects(separate(scheduler, 'x', stop.signal), /enough/)
  })
}

test('an aborted lane is discarded and rejects with the reason', async () => {
  const compute = new FakeCompute(1_000_000)
  const scheduler = new Scheduler(compute, budgets())
  const stop = new AbortController()
  const result = separate(scheduler, 'x', stop.signal)
  while (compute.batches.length < 2) await new Promise(setImmediate)
  stop.abort(new Error('enough'))
  await assert.rejects(result, /enough/)
  assert.deepEqual(compute.discarded, ['x'])
  assert.equal(scheduler.stats().lanes, 0)
})
