import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetricsText } from '../../gateway/operations/state-metrics.ts'
import { createDeadLetterHandler } from '../../gateway/requests/follow/dead-letters.ts'
import { createRescuer, rescue } from '../../gateway/requests/follow/rescuer.ts'
import { beforeTransactions } from '../support/database/before-transactions.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { fc } from '../support/basics/property.ts'
import { API, byAnother, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'
import { NO_MODELS } from '../support/no-models.ts'

const stateOf = async (gateway: Gateway, requestId: string): Promise<string> =>
  (await gateway.statusOf(requestId)).status

const errorOf = async (gateway: Gateway, requestId: string) =>
  (await gateway.statusOf(requestId)).error

const cancel = (gateway: Gateway, requestId: string) =>
  gateway.call('PUT', `${API}/requests/${requestId}/cancel`)

const rescueAll = ({ deps, broker }: Gateway) => rescue({ ...deps, broker })

const first = { attempt_id: 'attempt-1' }
const second = { attempt_id: 'attempt-2' }

test('3 a request moves through the queue to COMPLETED and stays there, whatever is repeated', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
  const logs = [{ timestamp: '2026-01-02T03:04:05.000Z', message: 'once' }]
  for (const [type, status] of [
    ['started', 'IN_PROGRESS'],
    ['completed', 'COMPLETED'],
  ] as const) {
    for (let times = 1; times <= 2; times += 1) {
      await gateway.event(type, requestId, { logs })
      assert.equal(await stateOf(gateway, requestId), status)
    }
  }
  const status = await gateway.call('GET', `${API}/requests/${requestId}/status?logs=true`)
  assert.equal(status.json().logs.length, 2, 'those of each event once')
  for (const type of ['started', 'released', 'failed', 'completed'] as const) {
    await gateway.event(type, requestId, second)
    assert.equal(await stateOf(gateway, requestId), 'COMPLETED', type)
    await gateway.event(type, 'req_unknown')
  }
})

test('3 events of a request that arrive at once are applied in their order', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  let transactions = 0
  gateway.deps.store = beforeTransactions(gateway.store, async () => {
    if ((transactions += 1) === 1) await sleep(100) // gives the second a chance to overtake
  })
  await Promise.all([
    gateway.event('started', requestId, first),
    gateway.event('released', requestId, first),
  ])
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
})

test('3 a released request is in the queue again', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  await gateway.event('started', requestId, first)
  await gateway.event('released', requestId, first)
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
  await gateway.event('started', requestId, first) // redelivered late
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
  await gateway.event('started', requestId, second)
  assert.equal(await stateOf(gateway, requestId), 'IN_PROGRESS')
})

/** Returns the requests whose jobs are with the broker, in their order. */
const requestsIn = ({ broker }: Gateway): string[] =>
  [...broker.jobs.values()].map((job) => job.request_id)

const jobsOf = (gateway: Gateway, requestId: string): number[] =>
  [...gateway.broker.jobs]
    .filter(([, job]) => job.request_id === requestId)
    .map(([sequence]) => sequence)

type Cause = 'drain' | 'outage' | 'interruption'

/** Releases a request as an engine does: it reports that, and the job leaves the broker's stream. */
async function release(gateway: Gateway, requestId: string, attempt: string, cause: Cause) {
  const jobs = jobsOf(gateway, requestId)
  await gateway.event('started', requestId, { attempt_id: attempt })
  for (let times = 1; times <= 2; times += 1) {
    // Events come at least once.
    await gateway.event('released', requestId, { attempt_id: attempt, cause })
  }
  for (const sequence of jobs) gateway.broker.jobs.delete(sequence)
  await gateway.publish()
}

test('3 a request released by a drain or in an outage gets one new job at once, however often', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  for (let drains = 1; drains <= 10; drains += 1) {
    await release(gateway, requestId, `attempt-${drains}`, drains % 2 ? 'drain' : 'outage')
    assert.deepEqual(jobsOf(gateway, requestId), [drains + 1])
  }
  const handle = createDeadLetterHandler(gateway.deps) // of an older job, which can no longer fail the request
  await handle({ stream: 'JOBS', request_id: requestId, sequence: 10 })
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
  await gateway.event('started', requestId, { attempt_id: 'last' })
  await gateway.event('completed', requestId, { attempt_id: 'last' })
  assert.equal(await stateOf(gateway, requestId), 'COMPLETED')
})

test('3 an interrupted request waits longer each time before it gets a new job; the sixth time it fails', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  for (const [i, delaySeconds] of [5, 15, 45, 135, 405].entries()) {
    await release(gateway, requestId, `attempt-${i}`, 'interruption')
    gateway.clock.advance(delaySeconds * 1_000 - 1)
    await gateway.publish()
    assert.deepEqual(jobsOf(gateway, requestId), [], `it rests ${delaySeconds} s`)
    await rescueAll(gateway) // finds nothing lost
    gateway.clock.advance(1)
    await gateway.publish()
    assert.equal(jobsOf(gateway, requestId).length, 1)
    assert.equal(gateway.broker.jobOf(requestId).interruptions, i + 1)
  }
  await release(gateway, requestId, 'attempt-5', 'interruption')
  const { status, error } = await gateway.statusOf(requestId)
  assert.deepEqual([status, error.code], ['FAILED', 'ENGINE_LOST'])
  assert.match(error.message, /interrupted 6 times/)
  gateway.clock.advance(3_600_000)
  await gateway.publish()
  assert.equal(gateway.broker.jobs.size, 0)
})

test('3 a request canceled while it backs off gets no new job', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  await release(gateway, requestId, 'attempt-1', 'interruption')
  assert.equal((await cancel(gateway, requestId)).statusCode, 202)
  gateway.clock.advance(3_600_000)
  await gateway.publish()
  assert.equal(gateway.broker.jobs.size, 0)
})

/** Long, because its length is unknown. */
const LONG = { audio_url: 'https://media.example/long.wav' }

const queuesIn = ({ broker }: Gateway, ids: readonly string[]) =>
  ids.map((requestId) => broker.queues.get(requestId))

for (const [length, input, only, further] of [
  ['long', LONG, 'first', 'further'],
  ['short', {}, 'short', 'short-further'],
] as const) {
  test(`3 the only ${length} job of an account goes first, and so does one that had started before`, async (t) => {
    const gateway = await startGateway(t)
    const other = await byAnother(gateway)
    const ids: string[] = []
    for (const of of [gateway, gateway, gateway, other, other]) {
      ids.push((await of.submit(input)).json().request_id)
      gateway.clock.advance(1)
    }
    await gateway.publish()
    assert.deepEqual(queuesIn(gateway, ids), [only, further, further, only, further])
    await gateway.event('started', ids[0]!)
    await gateway.event('completed', ids[0]!)
    const more = await gateway.submitted(input)
    assert.deepEqual(queuesIn(gateway, [more]), [further], 'two others have jobs')
    await release(gateway, ids[1]!, 'attempt-1', 'drain')
    assert.deepEqual(queuesIn(gateway, [ids[1]!]), [only])
    for (const requestId of [ids[3]!, ids[4]!]) {
      await gateway.event('started', requestId)
      await gateway.event('completed', requestId)
    }
    assert.deepEqual(queuesIn(gateway, [await other.submitted(input)]), [only])
  })
}

test('3 a short job goes ahead of long jobs of the same account', async (t) => {
  const gateway = await startGateway(t)
  const ids: string[] = []
  for (const input of [LONG, LONG, {}, LONG, {}]) ids.push(await gateway.submitted(input))
  const queues = ['first', 'further', 'short', 'further', 'short-further']
  assert.deepEqual(queuesIn(gateway, ids), queues)
})

test('3 batch jobs have a queue of their own, and do not push interactive ones back', async (t) => {
  const gateway = await startGateway(t)
  const ids: string[] = []
  for (const priority of ['batch', 'interactive', 'batch', 'interactive']) {
    ids.push(await gateway.submitted(LONG, { priority }))
  }
  assert.deepEqual(queuesIn(gateway, ids), ['batch', 'first', 'batch', 'further'])
  await release(gateway, ids[0]!, 'attempt-1', 'drain')
  assert.deepEqual(queuesIn(gateway, [ids[0]!]), ['batch'])
  assert.equal(gateway.broker.jobOf(ids[2]!).priority, 'batch')
})

test('3 a job is short by the length of its media, or by the size until the length is known', async (t) => {
  const gateway = await startGateway(t)
  const { store } = gateway
  const cases = [
    { duration: 60, file_size: 99_000_000, queue: 'short' },
    { duration: 61, file_size: 1_000, queue: 'first' },
    { file_size: 10_000_000, content_type: 'audio/x-wav', queue: 'short' },
    { file_size: 10_000_001, content_type: 'audio/flac', queue: 'first' },
    { file_size: 1_000_000, content_type: 'audio/mpeg', queue: 'short' },
    { file_size: 1_000_001, content_type: 'audio/mpeg', queue: 'first' },
    { file_size: 20_000_000, content_type: 'video/mp4', queue: 'short' },
    { file_size: 20_000_001, content_type: 'video/mp4', queue: 'first' },
  ]
  for (const { queue, duration = null, ...file } of cases) {
    const own = await byAnother(gateway)
    const { request_id: requestId } = (await own.submit()).json()
    const { account_id } = (await own.call('GET', '/v1/account')).json()
    await store
      .updateTable('requests')
      .set({ duration })
      .where('account_id', '=', account_id)
      .execute()
    await store.updateTable('files').set(file).where('account_id', '=', account_id).execute()
    await gateway.publish()
    assert.deepEqual(queuesIn(gateway, [requestId]), [queue], JSON.stringify({ duration, ...file }))
  }
})

test('3 an attempt that was overtaken can complete a request, but not fail or release it', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  await gateway.event('started', requestId, first)
  await gateway.event('started', requestId, second)
  await gateway.event('started', requestId, first) // redelivered late
  await gateway.event('failed', requestId, first)
  await gateway.event('released', requestId, first)
  assert.equal(await stateOf(gateway, requestId), 'IN_PROGRESS')
  assert.equal((await gateway.rows('requests'))[0]?.attempts, 2)
  await gateway.event('completed', requestId, first)
  assert.equal(await stateOf(gateway, requestId), 'COMPLETED')
})

test('3 whatever the order of events, a finished request keeps its outcome', async (t) => {
  const gateway = await startGateway(t)
  const type = fc.constantFrom('started', 'released', 'failed', 'completed' as const)
  const attempt = fc.constantFrom('a', 'b', 'c')
  const script = fc.array(fc.tuple(type, attempt), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(script, async (events) => {
      const requestId = (await gateway.submit({ audio_url: 'https://a.example/x.wav' })).json()
        .request_id
      let finished: string | undefined
      for (const [type, attempt_id] of events) {
        await gateway.event(type as 'started', requestId, { attempt_id })
        const status = await stateOf(gateway, requestId)
        if (finished) assert.equal(status, finished)
        if (type === 'completed') assert.ok(['COMPLETED', 'FAILED'].includes(status))
        if (status === 'COMPLETED' || status === 'FAILED') finished = status
      }
    }),
    { numRuns: 30 },
  )
})

test('extension: a queued request is canceled and leaves the queue', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const reply = await cancel(gateway, requestId)
  assert.equal(reply.statusCode, 202)
  assert.equal(reply.json().status, 'FAILED')
  assert.equal(reply.json().error.code, 'CANCELED')
  assert.equal(gateway.broker.jobs.size, 0)
  assertError(await cancel(gateway, requestId), 'REQUEST_FINISHED')
  assertError(await cancel(gateway, 'req_unknown'), 'NOT_FOUND')
})

test('extension: a request can be canceled before its job is published', async (t) => {
  const gateway = await startGateway(t)
  const requestId = (await gateway.submit()).json().request_id
  gateway.broker.connected = false
  assert.equal((await cancel(gateway, requestId)).statusCode, 202)
  gateway.broker.connected = true
  await gateway.publish()
  assert.equal(gateway.broker.jobs.size, 0)
})

for (const method of ['PUT', 'DELETE'] as const) {
  const title = method === 'PUT' ? 'canceled' : 'deleted'
  test(`extension: a request ${title} while its job is being published leaves the queue`, async (t) => {
    const gateway = await startGateway(t)
    const requestId = (await gateway.submit()).json().request_id
    const path = `${API}/requests/${requestId}${method === 'PUT' ? '/cancel' : ''}`
    const { publishJob } = gateway.broker
    gateway.broker.publishJob = async (job, messageId) => {
      const sequence = await publishJob.call(gateway.broker, job, messageId)
      assert.ok((await gateway.call(method, path)).statusCode < 300)
      return sequence
    }
    await gateway.publish()
    assert.equal(gateway.broker.jobs.size, 0)
  })
}

test('extension: the engine of a canceled request gets the cancel, even one that starts late', async (t) => {
  const gateway = await startGateway(t)
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const [running, late] = [await gateway.submitted(), await gateway.submitted()]
  await gateway.event('started', running)
  assert.equal((await cancel(gateway, running)).json().status, 'FAILED')
  assert.deepEqual(gateway.canceled, [running])
  const { upload_urls: urls } = gateway.broker.jobOf(late)
  await cancel(gateway, late)
  await gateway.event('started', late)
  assert.deepEqual(gateway.canceled, [running, late])
  assert.equal(await stateOf(gateway, late), 'FAILED')
  const reply = await gateway.putOutput(urls.target!, 'x')
  assertError(reply, 'REQUEST_FINISHED')
})

test('3 an engine that never answers delays no events of others', async (t) => {
  const engine = {
    ...NO_MODELS,
    describe: () => new Promise<never>(() => {}),
    stats: () => new Promise<never>(() => {}),
    cancel: () => new Promise<never>(() => {}),
    close() {},
  }
  const gateway = await startGateway(t, { engine })
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const [canceled, other] = [await gateway.submitted(), await gateway.submitted()]
  await cancel(gateway, canceled)
  await gateway.event('started', canceled) // its engine is told to stop, and does not answer
  await gateway.event('started', other)
  assert.equal(await stateOf(gateway, other), 'IN_PROGRESS')
})

test('3 a request whose job was delivered too often is FAILED with ENGINE_LOST', async (t) => {
  const gateway = await startGateway(t)
  const handle = createDeadLetterHandler(gateway.deps)
  const requestId = await gateway.submitted()
  await handle({ stream: 'JOBS', sequence: 99, request_id: requestId }) // of an older job
  await handle({ stream: 'JOBS', sequence: 1 }) // of an unknown request
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
  await handle({ stream: 'JOBS', sequence: 1, request_id: requestId })
  assert.equal((await errorOf(gateway, requestId)).code, 'ENGINE_LOST')
  assert.deepEqual(
    gateway.logged('error').map(({ sequence }) => sequence),
    [99, 1, 1],
  )
  const text = await createMetricsText(gateway.deps)()
  assert.match(text, /^winnow_dead_letters_total\{stream="JOBS"\} 3$/m)
})

test('3 an end that could not be stored fails the request of its attempt; no other event does', async (t) => {
  const gateway = await startGateway(t)
  const handle = createDeadLetterHandler(gateway.deps)
  const requestId = await gateway.submitted()
  await gateway.event('started', requestId)
  const letter = (type: string, attempt: string) =>
    handle({ stream: 'EVENTS', sequence: 1, request_id: requestId, attempt_id: attempt, type })
  for (const type of ['started', 'measured', 'released']) await letter(type, 'attempt-1')
  await letter('completed', 'attempt-0')
  assert.equal(await stateOf(gateway, requestId), 'IN_PROGRESS')
  await letter('completed', 'attempt-1')
  assert.equal(await stateOf(gateway, requestId), 'FAILED')
})

test('3 a request whose job was lost with the broker is queued again, and only then', async (t) => {
  const gateway = await startGateway(t)
  const look = async () => {
    gateway.clock.advance(121_000)
    await rescueAll(gateway)
    await gateway.publish()
  }
  const [queued, running] = [await gateway.submitted(), await gateway.submitted()]
  await gateway.event('started', running)
  await gateway.completed()
  await look()
  assert.equal(gateway.broker.jobs.size, 3) // nothing has been lost yet
  gateway.broker.jobs.clear()
  await look()
  assert.deepEqual(requestsIn(gateway).sort(), [queued, running].sort())
  assert.equal(await stateOf(gateway, running), 'IN_QUEUE')
  await look()
  assert.equal(gateway.broker.jobs.size, 2)
})

/** Runs rescuer and publisher two minutes after the broker lost everything it stored. */
async function loseJobs(gateway: Gateway): Promise<void> {
  gateway.broker.jobs.clear()
  gateway.clock.advance(121_000)
  await rescueAll(gateway)
  await gateway.publish()
}

test('3 a queued request never fails, however often its job is lost, and keeps its place', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  for (let round = 0; round < 20; round += 1) await loseJobs(gateway)
  assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
  gateway.broker.jobs.clear()
  gateway.clock.advance(121_000)
  const later = (await gateway.submit()).json().request_id
  gateway.clock.advance(1)
  await rescueAll(gateway)
  await gateway.publish()
  assert.deepEqual(requestsIn(gateway), [requestId, later])
})

test('3 a request whose job is lost in progress every time eventually fails', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  for (let round = 0; round < 6; round += 1) {
    assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
    await gateway.event('started', requestId, { attempt_id: `attempt-${round}` })
    await loseJobs(gateway)
  }
  assert.equal((await errorOf(gateway, requestId)).code, 'ENGINE_LOST')
})

test('3 a lost job is queued again though the clock was set back since its request changed', async (t) => {
  const gateway = await startGateway(t)
  gateway.clock.advance(3_600_000)
  const requestId = await gateway.submitted()
  gateway.clock.advance(-3_600_000)
  await loseJobs(gateway)
  assert.equal(jobsOf(gateway, requestId).length, 1)
})

test('3 when the broker has lost all jobs, queued requests get new ones at once, by any clock', async (t) => {
  const gateway = await startGateway(t)
  gateway.clock.advance(3_600_000)
  const ahead = await gateway.submitted()
  gateway.clock.advance(-3_600_000)
  const now = await gateway.submitted()
  gateway.broker.jobs.clear()
  let found = 0
  const both = new Promise<void>((resolve) => {
    const wakePublisher = () => void (++found === 2 && resolve())
    const rescuer = createRescuer({ ...gateway.deps, broker: gateway.broker, wakePublisher })
    t.after(() => rescuer.stop())
    rescuer.start()
    rescuer.streamsLost()
  })
  await both
  await gateway.publish()
  for (const requestId of [ahead, now]) assert.equal(jobsOf(gateway, requestId).length, 1)
})

test("3 one request that can't be rescued does not stop others from being queued again", async (t) => {
  const gateway = await startGateway(t)
  const ids = [await gateway.submitted(), await gateway.submitted()]
  gateway.broker.jobs.clear()
  gateway.clock.advance(121_000)
  const hasJob = async (requestId: string) => {
    if (requestId === ids[0]) throw new Error('a damaged block')
    return false
  }
  await rescue({ ...gateway.deps, broker: { hasJob } })
  await gateway.publish()
  assert.deepEqual(requestsIn(gateway), [ids[1]])
})

test("3 after the broker lost its store, a cancel leaves another request's job alone", async (t) => {
  const gateway = await startGateway(t)
  const mine = await gateway.submitted()
  const [sequence] = [...gateway.broker.jobs.keys()]
  const job = { ...gateway.broker.jobOf(mine), request_id: 'req_of_another' }
  gateway.broker.jobs.set(sequence!, job)
  await cancel(gateway, mine)
  assert.deepEqual([...gateway.broker.jobs.values()], [job])
})

/** Makes the broker refuse jobs of these requests; counts the attempts. */
function refuseJobs({ broker }: Gateway, requestIds: ReadonlySet<string>) {
  const publishJob = broker.publishJob.bind(broker)
  const refused = { tries: 0 }
  broker.publishJob = async (job, messageId) => {
    if (!requestIds.has(job.request_id)) return publishJob(job, messageId)
    refused.tries += 1
    throw new Error('max_payload size exceeded')
  }
  return refused
}

test('3 jobs that the broker refuses delay no others', async (t) => {
  const gateway = await startGateway(t)
  const bad = new Set<string>()
  const refused = refuseJobs(gateway, bad)
  for (let i = 0; i < 70; i += 1) bad.add((await gateway.submit()).json().request_id)
  const good: string = (await gateway.submit()).json().request_id
  await assert.rejects(gateway.publish()) // the broker refused all of the first 64
  await gateway.publish()
  assert.equal(gateway.broker.jobOf(good).request_id, good)
  await gateway.publish()
  assert.equal(refused.tries, 70) // they wait before the next attempt
})

test('3 a request whose job the broker refuses for a day is FAILED', async (t) => {
  const gateway = await startGateway(t)
  const requestId: string = (await gateway.submit()).json().request_id
  gateway.broker.connected = false
  await assert.rejects(gateway.publish()) // an outage does not count as an attempt
  gateway.broker.connected = true
  const refused = refuseJobs(gateway, new Set([requestId]))
  for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
    assert.equal(await stateOf(gateway, requestId), 'IN_QUEUE')
    await gateway.publish().catch(() => undefined)
    gateway.clock.advance(600_000)
  }
  for (let rest = 0; rest < 10; rest += 1) {
    await gateway.publish().catch(() => undefined)
    gateway.clock.advance(600_000)
  }
  assert.equal((await errorOf(gateway, requestId)).code, 'ENGINE_LOST')
  assert.equal(refused.tries, 150)
})

test('3 an event may have more log lines than a statement can have values', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      timestamp: '2026-01-01T00:00:00.000Z',
      message: `line "${from + i}" ✓`,
    }))
  await gateway.event('started', requestId, { logs: lines(0, 9_000) })
  await gateway.event('completed', requestId, { logs: lines(9_000, 2) })
  const status = await gateway.call('GET', `${API}/requests/${requestId}/status?logs=true`)
  assert.deepEqual(status.json().logs, lines(0, 9_002))
})
