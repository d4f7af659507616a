/** Dead letters: what no consumer could handle, as the broker keeps it. */

import type { JsMsg } from '@nats-io/jetstream'
import { DEAD_LETTERS } from './streams.ts'
import { identify, type Identity } from '../messages.ts'

/** Holds a dead letter's sequence in the stream that it left. */
export const SEQUENCE_HEADER = 'Winnow-Sequence'

/**
 * A message that no consumer could handle. The whole of it stays among the dead letters for a
 * while.
 */
export interface DeadLetter extends Identity {
  /** Its stream, and its place there. */
  stream: string
  sequence: number
}

/** The server's advisory about a message that used up its deliveries. */
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
