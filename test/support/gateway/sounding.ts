/** Makes a request whose outputs can be played. */

import assert from 'node:assert/strict'
import { ATTEMPT_HEADER } from '../../../shared/output-places.ts'
import { sine } from '../media/signals.ts'
import { wavBytes } from '../media/wav.ts'
import { ATTEMPT_ID, outputsOf, placed, submitted, type Gateway } from './start-gateway.ts'

const SECONDS = 2
const RATE = 8_000

/** Completes a request with outputs that are tones of two seconds, and returns its id. */
export async function completeWithSound(gateway: Gateway, input: object = {}): Promise<string> {
  const id = await submitted(gateway, input)
  const { upload_urls: urls } = gateway.broker.jobOf(id)
  await gateway.event('started', id)
  for (const url of Object.values(urls)) {
    const body = Buffer.from(wavBytes([sine(440, SECONDS, RATE)], RATE))
    const reply = await gateway.call('PUT', url, {
      body,
      headers: { [ATTEMPT_HEADER]: ATTEMPT_ID },
    })
    assert.equal(reply.statusCode, 200, reply.body)
  }
  const outputs = placed(outputsOf(gateway.broker.jobOf(id)), ATTEMPT_ID)
  await gateway.event('completed', id, { outputs, duration: SECONDS, sample_rate: RATE })
  return id
}
