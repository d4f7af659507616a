/** Credits: what is reserved, what is charged, and when nothing is (docs/decisions/accounts.md). */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import { creditAccount } from '../../gateway/accounts/accounts.ts'
import { ServiceError } from '../../shared/errors.ts'
import { cancelRequest, findOwn } from '../../gateway/requests/own-requests.ts'
import { submit } from '../../gateway/requests/submit/submit.ts'
import { fc } from '../support/basics/property.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { assertSound, meteredAccount } from '../support/gateway/metered.ts'
import { type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

test('2.10 a metered account pays for each second begun, and the result says so', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own, balance } = await meteredAccount(gateway, 20)
  const requestId = await own.submitted()
  assert.deepEqual(await balance(), [20, 1])
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { duration: 12.4 })
  assert.deepEqual(await balance(), [20, 13])
  await gateway.event('completed', requestId, { duration: 12.5 })
  assert.deepEqual(await balance(), [7, 0])
  assert.deepEqual((await own.getResult(requestId)).json().usage, {
    feature: 'audio_seconds',
    quantity: 13,
    billing_status: 'deducted',
  })
  const ledger = await assertSound(gateway.store, accountId)
  assert.deepEqual(ledger.map(({ kind }) => kind).sort(), [
    'credit',
    'deduct',
    'release',
    'reserve',
  ])
})

test('2.10 an account that is not metered pays nothing, whatever its balance', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  await gateway.event('started', requestId)
  await gateway.event('measured', requestId, { duration: 1e6 })
  await gateway.event('completed', requestId)
  assert.deepEqual((await gateway.getResult(requestId)).json().usage, {
    feature: 'audio_seconds',
    quantity: 13,
    billing_status: 'not_metered',
  })
  assert.deepEqual(await gateway.rows('ledger'), [])
})

test('4.7 without credits a submit answers 402, and nothing is queued', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own } = await meteredAccount(gateway, 0)
  assertError(await own.submit(), 'INSUFFICIENT_CREDITS')
  assertError(await own.submit({ audio_url: 'https://a.example/x.wav' }), 'INSUFFICIENT_CREDITS')
  for (const table of ['requests', 'outbox', 'ledger'] as const) {
    assert.deepEqual(await gateway.rows(table), [], table)
  }
  await creditAccount(gateway.deps, accountId, { seconds: 1 })
  assert.equal((await own.submit()).statusCode, 202)
})

test('4.7 no more unmeasured media is queued than the balance could pay for', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own, balance } = await meteredAccount(gateway, 3)
  const replies = await Promise.all(Array.from({ length: 8 }, () => own.submit()))
  const accepted = replies.filter(({ statusCode }) => statusCode === 202)
  assert.equal(accepted.length, 3)
  for (const reply of replies)
    if (!accepted.includes(reply)) assertError(reply, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(await balance(), [3, 3])
  assertError(await own.submit({ prompts: ['a bell', 'a dog'] }), 'INSUFFICIENT_CREDITS')
  const [first, second] = accepted.map((reply) => reply.json().request_id)
  await gateway.event('measured', first, { duration: 1 })
  assert.deepEqual(await balance(), [3, 3])
  await gateway.event('measured', second, { duration: 1.5 }) // one second more than is left
  assert.equal((await own.statusOf(second)).error.code, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(await balance(), [3, 2])
  assert.equal((await own.submit()).statusCode, 202)
  await assertSound(gateway.store, accountId)
})

test("4.7 a start that reports the media's length reserves the cost, or fails the request", async (t) => {
  const gateway = await startGateway(t)
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const { accountId, own, balance } = await meteredAccount(gateway, 15)
  const [first, second] = [await own.submitted(), await own.submitted()]
  await gateway.event('started', first, { duration: 12.4 })
  assert.equal((await own.statusOf(first)).status, 'IN_PROGRESS')
  assert.deepEqual(await balance(), [15, 14])
  await gateway.event('started', first, { duration: 12.4 }) // redelivered
  await gateway.event('started', second, { duration: 3 })
  assert.equal((await own.statusOf(second)).error.code, 'INSUFFICIENT_CREDITS')
  assert.deepEqual(gateway.canceled, [second], 'its engine stops')
  assert.deepEqual(await balance(), [15, 13])
  await gateway.event('completed', first)
  assert.deepEqual(await balance(), [2, 0])
  await assertSound(gateway.store, accountId)
})

test('4.7 once a file has been separated its cost is known, and reserved at submit', async (t) => {
  const gateway = await startGateway(t)
  const { accountId, own, balance } = await meteredAccount(gateway, 30)
  const file_id = await own.uploadFile()
  await own.completed({ file_id }) // 12.5 s
  assert.deepEqual(await balance(), [17, 0])
  const second = await own.submitted({ file_id })
  assert.deepEqual(await balance(), [17, 13])
  const refused = await own.submit({ file_id })
  assertError(refused, 'INSUFFICIENT_CREDITS')
  assert.match(refused.json().error.message, /costs 13 s.*has 17 s.*13 s are reserved/)
  await gateway.event('measured', second, { duration: 14 }) // nothing new: the cost is already reserved
  assert.deepEqual(await balance(), [17, 13])
  await gateway.complete(second)
  assert.deepEqual(await balance(), [4, 0])
  await assertSound(gateway.store, accountId)
})

test('7.2 a request that the balance does not cover in the end fails, costs nothing, and is not served', async (t) => {
  for (const estimate of [null, 3.5]) {
    const gateway = await startGateway(t)
    const { accountId, own, balance } = await meteredAccount(gateway, 12)
    const requestId = await own.submitted()
    const { upload_urls: urls } = gateway.broker.jobOf(requestId)
    await gateway.putOutput(urls.target!, 'target')
    await gateway.event('started', requestId)
    if (estimate !== null) await gateway.event('measured', requestId, { duration: estimate })
    await gateway.event('completed', requestId)
    const { status, error } = await own.statusOf(requestId)
    assert.deepEqual([status, error.code], ['FAILED', 'INSUFFICIENT_CREDITS'])
    assertError(await own.getResult(requestId), 'REQUEST_FAILED')
    assert.deepEqual(await balance(), [12, 0])
    await assertSound(gateway.store, accountId)
  }
})

test('extension: an account sees its balance with a key of any scope', async (t) => {
  const gateway = await startGateway(t)
  const { accountId } = await meteredAccount(gateway, 7)
  const key = await gateway.newKey(['models:read'], accountId)
  const reply = await gateway.call('GET', '/v1/account', { key })
  const { limits, ...account } = reply.json()
  assert.deepEqual(limits.media_bytes, { max: 1e12, used: 0 })
  assert.deepEqual(account, {
    account_id: accountId,
    name: 'Metered',
    status: 'active',
    priority: 'interactive',
    metered: true,
    balance_seconds: 7,
    reserved_seconds: 0,
    media_bytes: 0,
    media_reserved_bytes: 0,
    media_bytes_max: 1e12,
  })
  assertError(await gateway.call('GET', '/v1/account', { key: null }), 'UNAUTHENTICATED')
})

const REQUESTS = 3
const request = fc.nat({ max: REQUESTS - 1 })
const seconds = fc.double({ min: 0, max: 12, noNaN: true })
const attempt = fc.constantFrom('attempt-1', 'attempt-2')

type Step =
  | { does: 'submit' | 'cancel'; request: number }
  | { does: 'started' | 'released' | 'failed'; request: number; attempt: string }
  | { does: 'measured' | 'completed'; request: number; attempt: string; seconds: number }
  | { does: 'credit'; seconds: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('submit'), request }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cancel'), request }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom('started', 'released', 'failed'),
      request,
      attempt,
    }),
  },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('measured'), request, attempt, seconds }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('completed'), request, attempt, seconds }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('credit'),
      seconds: fc.integer({ min: -20, max: 20 }),
    }),
  },
)

/** The rules in their simplest form: one request after the other, all in memory. */
class Model {
  balance: number
  reserved = new Map<number, number>()
  status = new Map<number, 'running' | 'COMPLETED' | 'FAILED'>()
  attempts = new Map<number, { now: string | null; known: Set<string> }>()

  constructor(balance: number) {
    this.balance = balance
  }

  readonly measured = new Set<number>()

  available(): number {
    return this.balance - [...this.reserved.values()].reduce((sum, part) => sum + part, 0)
  }

  apply(step: Step): void {
    if (step.does === 'credit') {
      if (this.available() + step.seconds >= 0) this.balance += step.seconds
      return
    }
    const { request } = step
    if (step.does === 'submit') {
      if (this.status.has(request) || this.available() < 1) return
      this.status.set(request, 'running')
      this.reserved.set(request, 1) // the least that any media costs
      this.attempts.set(request, { now: null, known: new Set() })
      return
    }
    if (this.status.get(request) !== 'running') return
    const attempts = this.attempts.get(request)!
    if ('attempt' in step && !attempts.known.has(step.attempt)) {
      attempts.now = step.attempt // even if its start comes later
      attempts.known.add(step.attempt)
    }
    switch (step.does) {
      case 'started':
      case 'released':
        return
      case 'cancel':
        return this.end(request, 'FAILED')
      case 'failed':
        return attempts.now === step.attempt ? this.end(request, 'FAILED') : undefined
      case 'measured': {
        const cost = Math.ceil(step.seconds)
        if (this.measured.has(request)) return
        this.measured.add(request)
        if (cost - 1 > this.available()) return this.end(request, 'FAILED')
        this.reserved.set(request, Math.max(1, cost))
        return
      }
      case 'completed': {
        const cost = Math.ceil(step.seconds)
        this.reserved.delete(request)
        if (cost > this.available()) return this.end(request, 'FAILED')
        this.balance -= cost
        this.end(request, 'COMPLETED')
      }
    }
  }

  end(request: number, status: 'COMPLETED' | 'FAILED'): void {
    this.reserved.delete(request)
    this.status.set(request, status)
  }
}

/** Performs the same step on the gateway; `ids` are those of the requests that were accepted. */
async function perform(
  gateway: Gateway,
  accountId: string,
  ids: Map<number, string>,
  step: Step,
): Promise<void> {
  const { deps } = gateway
  if (step.does === 'credit') {
    await unlessRefused(creditAccount(deps, accountId, { seconds: step.seconds }))
    return
  }
  const requestId = ids.get(step.request)
  switch (step.does) {
    case 'submit': {
      if (requestId !== undefined) return
      ids.set(step.request, '') // reserves the entry, because other submits run meanwhile
      const body = { input: { prompt: 'x', audio_url: 'https://a.example/x.wav' } }
      const accepted = await unlessRefused(
        submit(deps, { account_id: accountId, own_priority: null }, { body }),
      )
      if (accepted) ids.set(step.request, JSON.parse(accepted.answer).request_id)
      else ids.delete(step.request)
      return
    }
    case 'cancel':
      if (requestId)
        await unlessRefused(
          findOwn(deps, accountId, requestId).then((row) => cancelRequest(deps, row)),
        )
      return
    default: {
      const { does, request: _request, attempt: attempt_id, ...rest } = step
      const fields = 'seconds' in rest ? { duration: rest.seconds } : {}
      await gateway.event(does as 'completed', requestId || 'req_unknown', {
        attempt_id,
        ...fields,
      })
    }
  }
}

async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (
      error instanceof ServiceError &&
      ['INSUFFICIENT_CREDITS', 'REQUEST_FINISHED'].includes(error.code)
    ) {
      return undefined
    }
    throw error
  }
}

async function startFastGateway(t: Parameters<typeof startGateway>[0]): Promise<Gateway> {
  const gateway = await startGateway(t)
  if (gateway.database.url === undefined) {
    await sql`pragma synchronous = off`.execute(gateway.store) // no power cut here
  }
  return gateway
}

test('6 one at a time, every step changes credits as the rules say', async (t) => {
  const gateway = await startFastGateway(t)
  const script = fc.array(step, { minLength: 5, maxLength: 25, size: 'max' })
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 20 }), script, async (balance, steps) => {
      const { accountId, balance: real } = await meteredAccount(gateway, balance)
      const [model, ids] = [new Model(balance), new Map<number, string>()]
      for (const step of steps) {
        model.apply(step)
        await perform(gateway, accountId, ids, step)
        const expected = [model.balance, model.balance - model.available()]
        assert.deepEqual(await real(), expected, JSON.stringify(step))
      }
      await assertSound(gateway.store, accountId)
      for (const [request, requestId] of ids) {
        const { status } = await findOwn(gateway.deps, accountId, requestId)
        const isOver = status === 'COMPLETED' || status === 'FAILED'
        assert.equal(isOver ? status : 'running', model.status.get(request))
      }
    }),
    { numRuns: 100 },
  )
})

test('6 whatever happens concurrently, no account is overdrawn and nothing is charged twice', async (t) => {
  const gateway = await startFastGateway(t)
  const script = fc.array(fc.array(step, { minLength: 1, maxLength: 10 }), {
    minLength: 1,
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 20 }), script, async (balance, rounds) => {
      const { accountId } = await meteredAccount(gateway, balance)
      const ids = new Map<number, string>()
      for (const round of rounds) {
        const steps = [...round, ...round] // every step twice
        await Promise.all(steps.map((step) => perform(gateway, accountId, ids, step)))
        await assertSound(gateway.store, accountId)
      }
    }),
    { numRuns: 100 },
  )
})
