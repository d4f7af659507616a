/** Receivers and gateways fail: a webhook still arrives, unchanged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { isTerminal } from '../../shared/request-status.ts'
import type { NewWebhookEndpoint } from '../../gateway/api/endpoint-schemas.ts'
import type { Status } from '../../clients/typescript/node.ts'
import { examplePath } from '../support/media/examples.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { startReceiver, type ReceivedWebhook } from '../support/http/webhook-receiver.ts'

const env = { EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }

/** Far beyond what it takes: a claim lapses after 30 s. */
const timeout = 240_000

const verify = (verifier: Webhook, { headers, body }: ReceivedWebhook) =>
  verifier.verify(body, headers as Record<string, string>) as {
    type: string
    request_id: string
    metadata: unknown
    data: { target: { url: string } }
  }

const idOf = ({ headers }: ReceivedWebhook) => headers['webhook-id']

/** Polls the status of a request until `isThere`. */
async function statusWhen(
  { client }: Winnow,
  requestId: string,
  isThere: (status: Status) => boolean,
): Promise<Status> {
  for (;;) {
    const status = await client.status(requestId)
    if (isThere(status)) return status
    await sleep(50)
  }
}

const isDelivered = ({ webhook }: Status) => webhook?.delivery_status === 'delivered'

test('a webhook outlives its gateway and a receiver that fails', { timeout }, async (t) => {
  const [winnow, receiver, ofAccount] = await Promise.all([
    startWinnow(t, { env }),
    startReceiver(t),
    startReceiver(t),
  ])
  const made = await fetch(`${winnow.url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: ofAccount.url }),
  })
  const endpoint = (await made.json()) as NewWebhookEndpoint
  const path = examplePath('speech-over-piano.wav')
  const file_id = await winnow.client.upload(path, 'audio/wav')
  const secret = 'a secret of the client'
  const { request_id: requestId, webhook } = await winnow.client.submit({
    input: { prompt: 'piano', file_id },
    webhookUrl: receiver.url,
    webhookSecret: secret,
    metadata: { order: 7 },
  })
  assert.deepEqual(webhook, { url: receiver.url })

  const first = await receiver.next() // completed, and never answered
  const unanswered = await ofAccount.next()
  await winnow.gateway.end('SIGKILL')
  await winnow.startGateway()
  const sending = await statusWhen(winnow, requestId, ({ status }) => isTerminal(status))
  assert.equal(sending.status, 'COMPLETED')
  const second = await receiver.next()
  second.answer(500)
  await statusWhen(winnow, requestId, ({ webhook }) => webhook?.delivery_status === 'pending')
  await winnow.gateway.end('SIGKILL')
  receiver.answerAll(204)
  ofAccount.answerAll(204)
  await winnow.startGateway()
  const third = await receiver.next()

  const { webhook: delivered } = await statusWhen(winnow, requestId, isDelivered)
  assert.deepEqual([delivered?.attempts, delivered?.last_error], [2, null])
  const verifier = new Webhook(secret, { format: 'raw' })
  for (const received of [first, second, third]) {
    const event = verify(verifier, received)
    assert.deepEqual([event.type, event.request_id], ['audio.separate.completed', requestId])
    assert.deepEqual(event.metadata, { order: 7 })
    assert.equal(idOf(received), idOf(first))
    assert.deepEqual(received.body, first.body)
  }
  const again = await ofAccount.next()
  assert.deepEqual([idOf(again), again.body], [idOf(unanswered), unanswered.body])
  assert.notEqual(idOf(again), idOf(third))
  assert.equal(verify(new Webhook(endpoint.signing_secret), again).request_id, requestId)
  const media = await fetch(verify(verifier, third).data.target.url)
  assert.equal(media.status, 200)
  assert.equal(Buffer.from(await media.arrayBuffer()).toString('latin1', 0, 4), 'RIFF')
})
