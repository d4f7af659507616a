/** Dead letters: messages that no consumer could handle, as kept by the broker. */

import type { JsMsg } from '@nats-io/jetstream'
import { DEAD_LETTERS } from './streams.ts'
import { identify, type Identity } from '../messages.ts'

/** The header with a dead letter's sequence in its original stream. */
export const SEQUENCE_HEADER = 'Winnow-Sequence'

/**
 * A message that no consumer could handle. It is kept in full among the dead letters for a while.
 */
export interface DeadLetter extends Identity {
  /** Its original stream, and its position there. */
  stream: string
  sequence: number
}

/** The server's advisory about a message that has used up its deliveries. */
export interface Exhaustion {
  stream: string
  stream_seq: number
}

export function readLetter({ subject, headers, data }: JsMsg): DeadLetter {
  return {
    ...identify(data),
    stream: subject.slice(DEAD_LETTERS.subject.length + 1),
    sequence: Number(headers?.get(SEQUENCE_HEADER)),
  }
}
