/** Idempotency-Key on submit: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import { DAY_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { fc } from '../support/basics/property.ts'
import { API, byAnother, type Gateway, startGateway } from '../support/gateway/start-gateway.ts'

const SUBMIT = `${API}/audio/separate`

const body = { input: { prompt: 'a bell', audio_url: 'https://a.example/bell.wav' } }

const send = (gateway: Gateway, key: string, body: unknown) =>
  gateway.call('POST', SUBMIT, { body, headers: { 'idempotency-key': key } })

const counts = ({ rows }: Gateway) =>
  Promise.all(
    (['requests', 'outbox', 'idempotency_keys'] as const).map(
      async (table) => (await rows(table)).length,
    ),
  )

test('8 the same key with the same body gets the same response, and submits once', async (t) => {
  const gateway = await startGateway(t)
  const body = {
    input: { prompt: 'a bell', file_id: await gateway.uploadFile() },
    metadata: { a: 1 },
  }
  const first = await send(gateway, 'key-1', body)
  assert.equal(first.statusCode, 202, first.body)
  gateway.clock.advance(DAY_MS - 1)
  const { input, metadata } = body
  const again = await send(gateway, 'key-1', { metadata, input }) // the file has expired meanwhile
  assert.equal(again.statusCode, 202, again.body)
  assert.equal(again.body, first.body)
  assert.equal(again.headers['content-type'], first.headers['content-type'])
  assert.deepEqual(await counts(gateway), [1, 1, 1])
})

test("8 bodies that differ only in digits beyond a number's precision are different", async (t) => {
  const gateway = await startGateway(t)
  const headers = { 'idempotency-key': 'key-1', 'content-type': 'application/json' }
  const sendId = (id: string) => {
    const text = `{"input":${JSON.stringify(body.input)},"metadata":{"id":${id}}}`
    return gateway.call('POST', SUBMIT, { body: text, headers })
  }
  const first = await sendId('9007199254740993')
  assert.equal(first.statusCode, 202, first.body)
  assert.equal((await sendId('9007199254740993')).body, first.body)
  const other = await sendId('9007199254740992')
  assertError(other, 'IDEMPOTENCY_CONFLICT', 'Idempotency-Key')
})

test('8 a key is valid for 24 hours and for its account', async (t) => {
  const gateway = await startGateway(t)
  const first = (await send(gateway, 'key-1', body)).json().request_id
  const other = await byAnother(gateway)
  assert.notEqual((await send(other, 'key-1', body)).json().request_id, first)
  gateway.clock.advance(DAY_MS)
  const second = (await send(gateway, 'key-1', body)).json().request_id
  assert.notEqual(second, first)
  assert.equal((await send(gateway, 'key-1', body)).json().request_id, second)
})

test('8 a repeated submit gets its response even if the source would be refused by now', async (t) => {
  let isRefused = false
  const checkAudioUrl = async () => {
    if (isRefused) throw new ServiceError('INVALID_AUDIO_URL')
  }
  const gateway = await startGateway(t, { checkAudioUrl })
  const first = await send(gateway, 'key-1', body)
  isRefused = true
  assert.equal((await send(gateway, 'key-1', body)).body, first.body)
  const other = { ...body, metadata: {} }
  assertError(await send(gateway, 'key-1', other), 'IDEMPOTENCY_CONFLICT', 'Idempotency-Key')
  assertError(await send(gateway, 'key-2', body), 'INVALID_AUDIO_URL')
})

test('8 the key of a deleted request submits nothing more within its 24 hours', async (t) => {
  const gateway = await startGateway(t)
  const first = (await send(gateway, 'key-1', body)).json().request_id
  const deleted = await gateway.call('DELETE', `${API}/requests/${first}`)
  assert.equal(deleted.statusCode, 204, deleted.body)
  gateway.clock.advance(DAY_MS - 1)
  await sweep(gateway.deps)
  const again = await send(gateway, 'key-1', body)
  assertError(again, 'IDEMPOTENCY_CONFLICT', 'Idempotency-Key')
  assert.match(again.json().error.message, new RegExp(`submitted ${first}, which is deleted`))
  const other = { ...body, metadata: {} }
  assertError(await send(gateway, 'key-1', other), 'IDEMPOTENCY_CONFLICT', 'Idempotency-Key')
  const [row] = await gateway.rows('idempotency_keys')
  assert.equal(row?.sealed_answer, '', 'what was answered goes with the request')
  assert.deepEqual(await counts(gateway), [0, 0, 1])
  gateway.clock.advance(1)
  await sweep(gateway.deps)
  assert.deepEqual(await counts(gateway), [0, 0, 0])
  assert.equal((await send(gateway, 'key-1', body)).statusCode, 202)
})

test('8 an error is not remembered, and an invalid key answers 400', async (t) => {
  const gateway = await startGateway(t)
  const wrong = { input: { prompt: 'a bell', file_id: 'file_x' } }
  assertError(await send(gateway, 'key-1', wrong), 'INVALID_PARAMETER', 'input.file_id')
  assert.equal((await send(gateway, 'key-1', body)).statusCode, 202)
  for (const key of ['', 'a b', 'x'.repeat(256), 'é']) {
    assertError(await send(gateway, key, body), 'INVALID_PARAMETER', 'Idempotency-Key')
  }
  assert.equal((await send(gateway, '!~'.repeat(127), body)).statusCode, 202)
})

test("8 stored responses can't be read in the database, nor with another key", async (t) => {
  const gateway = await startGateway(t)
  await send(gateway, 'key-1', body)
  await send(gateway, 'key-2', body)
  const rows = await gateway.rows('idempotency_keys')
  for (const row of rows) {
    const sealed = Buffer.from(row.sealed_answer, 'base64url').toString('latin1')
    assert.ok(!sealed.includes(row.request_id), 'the answer is sealed')
  }
  const [first, second] = rows
  await gateway.store
    .updateTable('idempotency_keys')
    .set({ sealed_answer: first?.sealed_answer ?? '' })
    .where('idempotency_key', '=', second?.idempotency_key ?? '')
    .execute()
  assertError(await send(gateway, 'key-2', body), 'INTERNAL')
})

test('8 however submits with keys overlap, each key submits once and conflicts answer 409', async (t) => {
  const gateway = await startGateway(t)
  const audio_url = 'https://a.example/bell.wav'
  const submits = fc.array(
    fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      prompt: fc.constantFrom('a bell', 'a horn'),
      /**
       * Rounds of the event loop that the source takes to answer, and that pass before the submit.
       */
      rounds: fc.nat(3),
      after: fc.nat(3),
    }),
    { minLength: 1, maxLength: 12 },
  )
  let run = 0
  let slow = 0
  gateway.deps.checkAudioUrl = async () => {
    for (let i = slow; i > 0; i -= 1) await nextRound()
  }
  await fc.assert(
    fc.asyncProperty(submits, async (list) => {
      run += 1
      const [before] = await counts(gateway)
      const replies = await Promise.all(
        list.map(async ({ key, prompt, rounds, after }) => {
          for (let i = after; i > 0; i -= 1) await nextRound()
          slow = rounds
          const reply = await send(gateway, `${run}-${key}`, { input: { prompt, audio_url } })
          return { key, prompt, reply }
        }),
      )
      const [now] = await counts(gateway)
      const keys = new Set(list.map(({ key }) => key))
      assert.equal(now! - before!, keys.size, 'one request for each key')
      for (const key of keys) {
        const mine = replies.filter((one) => one.key === key)
        const accepted = mine.filter(({ reply }) => reply.statusCode === 202)
        assert.equal(
          new Set(accepted.map(({ reply }) => reply.body)).size,
          1,
          'one answer for each key',
        )
        assert.equal(new Set(accepted.map(({ prompt }) => prompt)).size, 1, 'and one body')
        for (const { reply, prompt } of mine) {
          if (prompt !== accepted[0]?.prompt)
            assertError(reply, 'IDEMPOTENCY_CONFLICT', 'Idempotency-Key')
          else assert.equal(reply.statusCode, 202, reply.body)
        }
      }
    }),
    { numRuns: 60 },
  )
})
