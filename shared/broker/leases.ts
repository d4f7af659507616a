/** What `leaseJob` needs: a queue's consumer, and how a lease is renewed and settled. */

import {
  JetStreamApiCodes,
  type Consumer,
  type JetStreamClient,
  type JsMsg,
} from '@nats-io/jetstream'
import type { Lease } from './interface.ts'
import { hasCode, jobSource, type JobQueue } from './streams.ts'

/** Returns the consumer of a job queue; null if no job that names the model has been published. */
export async function jobConsumer(
  client: JetStreamClient,
  { queue, model }: { queue: JobQueue; model?: string },
): Promise<Consumer | null> {
  const source = jobSource(queue, model)
  try {
    return await client.consumers.get(source.stream, source.consumer)
  } catch (error) {
    if (model !== undefined && hasCode(error, JetStreamApiCodes.ConsumerNotFound)) return null
    throw error
  }
}

/**
 * Whether a job was waiting when the consumer was fetched, or may be soon, because an expired lease
 * makes its job wait again.
 */
export async function mayHaveJobs(consumer: Consumer): Promise<boolean> {
  const { num_pending: waiting, num_ack_pending: leased } = await consumer.info(true)
  return waiting + leased > 0
}

export function leaseActions(message: JsMsg): Pick<Lease, 'heartbeat' | 'ack' | 'nak'> {
  return {
    heartbeat: () => message.working(),
    async ack() {
      await message.ackAck()
    },
    nak: (delayMs) => message.nak(delayMs),
  }
}
