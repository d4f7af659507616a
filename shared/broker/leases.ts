/** Leases jobs, and settles the leases. */

import {
  JetStreamApiCodes,
  type Consumer,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream'
import type { Lease } from './interface.ts'
import { ensureJobConsumer, hasCode, jobSource, type JobQueue } from './streams.ts'

/** The consumer of a queue of jobs; of a model's, the first engine that holds it makes it. */
export async function jobConsumer(
  { client, manager }: { client: JetStreamClient; manager: JetStreamManager },
  { queue, model, leaseSeconds }: { queue: JobQueue; model?: string; leaseSeconds: number },
): Promise<Consumer> {
  const source = jobSource(queue, model)
  try {
    return await client.consumers.get(source.stream, source.consumer)
  } catch (error) {
    const isNew = model !== undefined && hasCode(error, JetStreamApiCodes.ConsumerNotFound)
    if (!isNew) throw error
    await ensureJobConsumer(manager, source, leaseSeconds)
    return client.consumers.get(source.stream, source.consumer)
  }
}

/**
 * Returns whether a job waited when the consumer was got, or may soon: a lease that lapses makes
 * its job one that waits.
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
