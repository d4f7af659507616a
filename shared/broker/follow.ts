/** Follows a stream: handles several messages at once, and returns those that it cannot handle. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Consumer, JsMsg } from '@nats-io/jetstream'
import { MINUTE_MS } from '../durations.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Stop } from './interface.ts'

/** How many messages of a stream a follower handles at once, started in order. */
const HANDLED_AT_ONCE = 8
/** How many messages a follower has requested but not handled yet. */
const REQUESTED_MAX = 64
/** Delay after a follower fails, and after the first delivery of a message fails. */
const RETRY_MS = 1_000
const RETRY_DELAY_MS_MAX = MINUTE_MS

/** Returns the delay before a message is redelivered, which doubles each time. */
export const retryDelayMs = ({ info: { deliveryCount } }: JsMsg): number =>
  Math.min(RETRY_MS * 2 ** (deliveryCount - 1), RETRY_DELAY_MS_MAX)

interface ConsumerOptions {
  /** Returns the consumer; called again after each failure. */
  consumer: () => Promise<Consumer>
  /**
   * Handles a message. When this resolves, the message is acknowledged; when it rejects, the
   * message is redelivered after a delay.
   */
  handle: (message: JsMsg) => Promise<void>
  onFailure: (error: unknown) => Promise<void>
  log: Logger
}

/** Follows until the returned function is called, which waits for messages in progress. */
export async function followStream({
  consumer: getConsumer,
  handle,
  onFailure,
  log,
}: ConsumerOptions): Promise<Stop> {
  const stopping = new AbortController()
  let messages: { stop(): void } | undefined
  const open = new Set<Promise<void>>()
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        const consumer = await getConsumer()
        const consumed = await consumer.consume({
          max_messages: REQUESTED_MAX,
          abort_on_missing_resource: true,
        })
        messages = consumed
        if (stopping.signal.aborted) consumed.stop()
        for await (const message of consumed) {
          const handling = handleOne(message, handle, log).finally(() => open.delete(handling))
          open.add(handling)
          if (open.size === HANDLED_AT_ONCE) await Promise.race(open)
        }
      } catch (error) {
        await onFailure(error)
      }
      await sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return async () => {
    stopping.abort()
    messages?.stop()
    await running
    await Promise.all(open)
  }
}

async function handleOne(
  message: JsMsg,
  handle: ConsumerOptions['handle'],
  log: Logger,
): Promise<void> {
  try {
    await handle(message)
    message.ack()
  } catch (error) {
    const { subject, seq, info } = message
    const deliveries = info.deliveryCount
    log.error({ err: error, subject, seq, deliveries }, 'a message could not be handled')
    message.nak(retryDelayMs(message))
  }
}
