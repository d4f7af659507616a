/** The credits of an account stay consistent whatever happens to its requests, in any order. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { sql } from 'kysely'
import { creditAccount } from '../../gateway/accounts/accounts.ts'
import { ServiceError } from '../../shared/errors.ts'
import { cancel, findOwn } from '../../gateway/requests/own-requests.ts'
import { submit } from '../../gateway/requests/submit/submit.ts'
import { assertSound, meteredAccount } from '../support/gateway/metered.ts'
import { fc } from '../support/basics/property.ts'
import { startGateway, type Gateway } from '../support/gateway/start-gateway.ts'

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
        await unlessRefused(findOwn(deps, accountId, requestId).then((row) => cancel(deps, row)))
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
