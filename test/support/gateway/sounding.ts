/** Makes a request whose outputs can be played. */

import { sine } from '../media/signals.ts'
import { wavBytes } from '../media/wav.ts'
import { ATTEMPT_ID, outputsOf, type Gateway } from './start-gateway.ts'

const SECONDS = 2
const RATE = 8_000

/** Completes a request with outputs that are tones of two seconds, and returns its id. */
export async function completeWithSound(gateway: Gateway, input: object = {}): Promise<string> {
  const id = await gateway.submitted(input)
  const job = gateway.broker.jobOf(id)
  await gateway.event('started', id)
  const content = Buffer.from(wavBytes([sine(440, SECONDS, RATE)], RATE))
  await gateway.uploadOutputs(job, { content })
  const outputs = outputsOf(job, ATTEMPT_ID)
  await gateway.event('completed', id, { outputs, duration: SECONDS, sample_rate: RATE })
  return id
}
