/** Receivers and gateways fail: a webhook still arrives, unchanged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { isTerminal } from '../../shared/request-status.ts'
import type { NewWebhookEndpoint } from '../../gateway/api/endpoint-schemas.ts'
import type { QueueStatusResponse } from '../../gateway/api/schemas.ts'
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
    error: { code: string }
  }

const idOf = ({ headers }: ReceivedWebhook) => headers['webhook-id']

/** The status, once `isThere`. */
async function statusWhen(
  { url }: Winnow,
  requestId: string,
  isThere: (status: QueueStatusResponse) => boolean,
): Promise<QueueStatusResponse> {
  for (;;) {
    const reply = await fetch(`${url}/v1/queue/requests/${requestId}/status`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const status = (await reply.json()) as QueueStatusResponse
    if (isThere(status)) return status
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const isDelivered = ({ webhook }: QueueStatusResponse) => webhook?.delivery_status === 'delivered'

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
  const file_id = await winnow.client.upload(path, 'audio/wav', () => undefined)
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

test(
  'a canceled request is delivered, signed with a secret of our own, again by hand',
  { timeout },
  async (t) => {
    const [winnow, receiver] = await Promise.all([
      startWinnow(t, { engines: 0, env }),
      startReceiver(t),
    ])
    const file_id = await winnow.client.upload(
      examplePath('speech-over-piano.wav'),
      'audio/wav',
      () => undefined,
    )
    const submitted = await winnow.client.submit({
      input: { prompt: 'piano', file_id },
      webhookUrl: receiver.url,
    })
    await winnow.client.cancel(submitted)
    const verifier = new Webhook(submitted.webhook?.signing_secret ?? '')
    const first = await receiver.next()
    assert.equal(verify(verifier, first).error.code, 'CANCELED')
    first.answer(410)
    const { request_id: requestId } = submitted
    await statusWhen(winnow, requestId, ({ webhook }) => webhook?.delivery_status === 'failed')
    const again = await fetch(`${winnow.url}/v1/queue/requests/${requestId}/webhook/redeliver`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    assert.equal(again.status, 202)
    const second = await receiver.next()
    second.answer(200)
    assert.deepEqual([idOf(second), second.body], [idOf(first), first.body])
    assert.equal(verify(verifier, second).type, 'audio.separate.failed')
    await statusWhen(winnow, requestId, isDelivered)
  },
)

test('an address that is not public is refused at submit', { timeout }, async (t) => {
  const winnow = await startWinnow(t, { engines: 0, env: { EGRESS_ALLOW_CIDRS: '' } })
  const submit = (webhookUrl: string) =>
    winnow.client.submit({ input: { prompt: 'x', file_id: 'file_1' }, webhookUrl })
  for (const url of ['http://127.0.0.1:8080/', 'https://127.0.0.1/', 'https://localhost/']) {
    await assert.rejects(submit(url), /INVALID_WEBHOOK_URL|webhookUrl/, url)
  }
})
