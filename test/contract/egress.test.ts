/** Slow servers that clients name only delay the account that named them. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { createPublicFetch } from '../../shared/http/public-fetch.ts'
import { createPublicPost } from '../../gateway/webhooks/public-post.ts'
import { createResolver } from '../../shared/http/resolver.ts'
import { EgressPool } from '../../gateway/requests/submit/egress-pool.ts'
import { createUrlChecks } from '../../gateway/requests/submit/url-checks.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { startNameServer } from '../support/http/name-server.ts'
import { serve } from '../support/http/serve.ts'
import { API, startGateway, withKey } from '../support/gateway/start-gateway.ts'

const timeout = 60_000
const FOREVER = 600_000

/** Starts a gateway whose name server never answers for slow.example. */
async function start(t: TestContext, limits: ConstructorParameters<typeof EgressPool>[0]) {
  const names = await startNameServer(t, (name) =>
    name.endsWith('slow.example') ? 'silence' : ['127.0.0.1'],
  )
  const { url } = await serve(t, (_request, reply) => reply.end('x'))
  let ended = new AbortController()
  const ask = createResolver({ servers: [names.server], resolveMsMax: FOREVER })
  const options = {
    allowCidrs: ['127.0.0.0/8'],
    resolve: (name: string, signal: AbortSignal) =>
      ask(name, AbortSignal.any([signal, ended.signal])),
  }
  const waits = { checkMsMax: FOREVER }
  const checks = createUrlChecks(
    createPublicFetch({ ...options, limits: waits }),
    createPublicPost(options),
    new EgressPool(limits),
  )
  const gateway = await startGateway(t, checks)
  const at = (host: string) => `http://${host}:${new URL(url).port}/a.wav`
  return {
    gateway,
    names,
    /** Submits media at a host; adds the host to `settled` once the submit is answered. */
    submit: async (key: string, host: string, settled: string[] = []) => {
      const reply = await withKey(gateway, key).submit({ audio_url: at(host) })
      settled.push(host)
      return reply
    },
    at,
    /** Makes all pending look-ups time out. */
    endWaits() {
      ended.abort(Object.assign(new Error('over'), { code: 'ETIMEOUT' }))
      ended = new AbortController()
    },
  }
}

const slowHosts = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `${from + i}.slow.example`)

test('40 addresses at slow name servers delay no other account', { timeout }, async (t) => {
  const { gateway, names, submit, endWaits } = await start(t, { slots: 40, waitMsMax: FOREVER })
  const settled: string[] = []
  const slow = slowHosts(40).map((host) => submit(gateway.key, host, settled))
  await names.whenAsked(20) // half of the slots
  const other = await gateway.newKey()
  assert.equal((await submit(other, 'fast.example')).statusCode, 202)
  assert.deepEqual(settled, [])
  const hooked = await withKey(gateway, other).submit({}, { webhookUrl: 'https://hooks.example/' })
  assert.equal(hooked.statusCode, 202, hooked.body)
  assert.deepEqual(settled, [])
  assert.equal((await names.whenAsked(22)).length, 22, 'the rest of the 40 has not been begun')
  endWaits()
  await names.whenAsked(42)
  endWaits()
  for (const reply of await Promise.all(slow)) assert.equal(reply.statusCode, 202, reply.body)
})

test(
  '7 RATE_LIMITED answers a submit that gets no slot in time, or finds too many waiting',
  { timeout },
  async (t) => {
    const { gateway, names, submit, endWaits } = await start(t, {
      slots: 2,
      waitersMax: 1,
      waitMsMax: FOREVER,
    })
    const [first, second] = slowHosts(2)
    const settled: string[] = []
    const resolving = submit(gateway.key, first!, settled)
    await names.whenAsked(1)
    const waiting = submit(gateway.key, second!, settled)
    const refused = await submit(gateway.key, 'fast.example')
    assertError(refused, 'RATE_LIMITED')
    assert.equal(refused.headers['retry-after'], '30')
    assert.match(refused.json().error.message, /Too many submits are waiting/)
    assert.deepEqual(settled, [])
    assert.equal((await submit(await gateway.newKey(), 'fast.example')).statusCode, 202)
    endWaits()
    await resolving
    await names.whenAsked(3)
    endWaits()
    await waiting
    assert.equal((await submit(gateway.key, 'fast.example')).statusCode, 202, 'there is room again')

    const hasty = new EgressPool({ slots: 1, waitMsMax: 10 })
    let end = () => {}
    const work = hasty.run(
      { accountId: 'a' },
      () =>
        new Promise<void>((resolve) => {
          end = resolve
        }),
    )
    const late = hasty.run({ accountId: 'b' }, async () => assert.fail('it was given up'))
    await assert.rejects(late, { code: 'RATE_LIMITED', retryAfterSeconds: 30 })
    end()
    await work
    await hasty.run({ accountId: 'b' }, async () => undefined)
  },
)

test('a client that hangs up leaves its slot to the next', { timeout }, async (t) => {
  const { gateway, names, at } = await start(t, { slots: 1, waitMsMax: FOREVER })
  const url = `${await gateway.listen()}${API}/audio/separate`
  const send = (host: string) => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const outgoing = request(url, { method: 'POST', headers })
    outgoing.on('error', () => {}) // it gets destroyed
    outgoing.end(JSON.stringify({ input: { prompt: 'a bell', audio_url: at(host) } }))
    return outgoing
  }
  const abandoned = send('first.slow.example')
  await names.whenAsked(1)
  const next = send('fast.example')
  abandoned.destroy()
  const [answer] = await once(next, 'response')
  assert.equal(answer.statusCode, 202)
  answer.resume()
  assert.deepEqual(gateway.logged('error'), [])
})
