/** A gateway dies during submits; once they are repeated with their keys, each request exists once. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { examplePath } from '../support/media/examples.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'

const SUBMITS = 40
const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }

test('submits with an Idempotency-Key survive a killed gateway without duplicates', async (t) => {
  const winnow = await startWinnow(t, { engines: 0 })
  const fileId = await winnow.client.upload(examplePath('speech-over-piano.wav'), 'audio/wav')
  const body = JSON.stringify({ input: { prompt: 'piano', file_id: fileId } })
  const send = async (i: number) => {
    const reply = await fetch(`${winnow.url}/v1/queue/audio/separate`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': `key-${i}` },
      body,
    })
    const text = await reply.text()
    assert.equal(reply.status, 202, text)
    return text
  }
  const all = Array.from({ length: SUBMITS }, (_, i) => i)

  let killed: Promise<unknown> | undefined
  const first = await Promise.all(
    all.map((i) =>
      send(i).then(
        (answer) => {
          killed ??= winnow.gateway.end('SIGKILL') // while the other submits are in flight
          return answer
        },
        () => null, // the request may or may not be stored
      ),
    ),
  )
  await killed
  assert.ok(
    first.some((answer) => answer !== null),
    'one was answered',
  )
  await winnow.startGateway()
  const second = await Promise.all(all.flatMap((i) => [send(i), send(i)]))
  for (const i of all) {
    const [answer, again] = second.slice(2 * i)
    assert.equal(answer, again)
    if (first[i] !== null) assert.equal(answer, first[i])
  }
  const ids = second.map((answer) => JSON.parse(answer).request_id as string)
  const listed = await fetch(`${winnow.url}/v1/queue/requests?limit=100`, { headers })
  const { data } = (await listed.json()) as { data: { request_id: string }[] }
  assert.deepEqual(data.map((item) => item.request_id).sort(), [...new Set(ids)].sort())
  assert.equal(data.length, SUBMITS)
})
