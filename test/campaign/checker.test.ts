/** The checker finds each kind of error in a history, and none in a correct one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { violationsOf } from './checker.ts'
import { newHistory, type AccountAtTheEnd, type Ask, type History } from './history.ts'

interface Case {
  history: History
  ask: Ask
  account: AccountAtTheEnd
}

/** Returns one request that completed, was charged, and had its webhook delivered. */
function correctCase(): Case {
  const ask: Ask = {
    number: 0,
    account: 'paid',
    submittedAt: 0,
    hasWebhook: true,
    requestIds: ['r1', 'r1'],
    isUncertain: true,
    refusal: undefined,
    isCanceled: false,
    statuses: [
      { askedAt: 1, at: 2, status: 'IN_PROGRESS', code: undefined },
      { askedAt: 3, at: 4, status: 'COMPLETED', code: undefined },
    ],
    cost: 2,
    damage: undefined,
  }
  const webhook = {
    at: 5,
    id: 'w1',
    requestId: 'r1',
    body: '{"type":"audio.separate.completed"}',
    isSigned: true,
  }
  const request = {
    requestId: 'r1',
    number: 0,
    status: 'COMPLETED',
    code: undefined,
    delivery: 'delivered',
  }
  const history = newHistory()
  history.asks.push(ask)
  history.webhooks.push({ ...webhook, answered: 500 }, { ...webhook, answered: 204 })
  const account: AccountAtTheEnd = {
    name: 'paid',
    isMetered: true,
    credited: 10,
    balance: 8,
    reserved: 0,
    requests: [request],
  }
  return { history, ask, account }
}

const violations = ({ history, account }: Case) => violationsOf(history, [account])

test('a correct history has no violations', () => {
  assert.deepEqual(violations(correctCase()), [])
})

test('a request refused for lack of credits is correct', () => {
  const refused = correctCase()
  Object.assign(refused.ask, {
    requestIds: [],
    isUncertain: false,
    refusal: 'INSUFFICIENT_CREDITS',
    statuses: [],
  })
  Object.assign(refused.account, { requests: [], balance: 10 })
  refused.history.webhooks.length = 0
  assert.deepEqual(violations(refused), [])
})

const DEFECTS: Record<string, [change: (testCase: Case) => unknown, message: RegExp]> = {
  'it is lost': [({ account }) => (account.requests = []), /accepted, and is lost/],
  'it exists twice': [
    ({ account }) => account.requests.push({ ...account.requests[0]!, requestId: 'r2' }),
    /exists 2 times/,
  ],
  'one key has two answers': [({ ask }) => ask.requestIds.push('r2'), /several ids for one key/],
  'it never ends': [
    ({ account }) => Object.assign(account.requests[0]!, { status: 'IN_QUEUE' }),
    /never ended/,
  ],
  'it fails for no reason': [
    ({ account }) => Object.assign(account.requests[0]!, { status: 'FAILED', code: 'ENGINE_LOST' }),
    /failed with ENGINE_LOST/,
  ],
  'it is canceled by nobody': [
    ({ account }) => Object.assign(account.requests[0]!, { status: 'FAILED', code: 'CANCELED' }),
    /failed with CANCELED/,
  ],
  'it comes back from its end': [
    ({ ask }) => ask.statuses.push({ askedAt: 5, at: 6, status: 'IN_PROGRESS', code: undefined }),
    /came back from COMPLETED/,
  ],
  'a refused one exists': [
    ({ ask }) =>
      Object.assign(ask, {
        requestIds: [],
        isUncertain: false,
        refusal: 'INSUFFICIENT_CREDITS',
        statuses: [],
      }),
    /was refused with INSUFFICIENT_CREDITS, and exists/,
  ],
  'it is refused for no reason': [
    ({ ask }) => (ask.refusal = 'NOT_FOUND'),
    /was refused with NOT_FOUND/,
  ],
  'it is charged twice': [({ account }) => (account.balance = 6), /has 6 s: 10 came, 2 were used/],
  'it is not charged': [({ account }) => (account.balance = 10), /has 10 s: 10 came, 2 were used/],
  'a reservation is left': [({ account }) => (account.reserved = 2), /2 s reserved/],
  'nobody is told': [({ history }) => history.webhooks.splice(0), /nobody was told/],
  'only a failing receiver is told': [({ history }) => history.webhooks.pop(), /nobody was told/],
  'it is told twice': [({ history }) => (history.webhooks[1]!.id = 'w2'), /2 different ids/],
  'two bodies are told': [
    ({ history }) => (history.webhooks[1]!.body = '{"type":"audio.separate.completed","b":1}'),
    /2 different bodies/,
  ],
  'the other end is told': [
    ({ history }) => {
      for (const webhook of history.webhooks) webhook.body = '{"type":"audio.separate.failed"}'
    },
    /was told otherwise/,
  ],
  'a webhook is not signed': [
    ({ history }) => (history.webhooks[0]!.isSigned = false),
    /without a signature/,
  ],
  'its outputs are damaged': [({ ask }) => (ask.damage = 'its target is short'), /target is short/],
  'a process ends': [({ history }) => history.deaths.push('engine 0 ended with 1'), /engine 0/],
  'a revoked key is taken': [
    ({ history }) => history.revokedKeysUsed.push('GET /v1/account'),
    /a revoked key was taken/,
  ],
}

for (const [name, [change, message]] of Object.entries(DEFECTS)) {
  test(`the checker sees that ${name}`, () => {
    const testCase = correctCase()
    change(testCase)
    assert.match(violations(testCase).join('\n'), message)
  })
}
