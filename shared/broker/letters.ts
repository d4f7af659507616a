/** Dead letters: what no consumer could handle, as the broker keeps it. */

import type { JsMsg } from '@nats-io/jetstream'
import { DEAD_LETTERS } from './streams.ts'
import { identify, type Identity } from '../messages.ts'

/** Of a dead letter: its sequence in the stream where it was. */
export const SEQUENCE_HEADER = 'Winnow-Sequence'

/** What no consumer could handle. The whole message stays among the dead letters for a while. */
export interface DeadLetter extends Identity {
  /** Where it was, and its place there. */
  stream: string
  sequence: number
}

/** What the server says of a message that used up its deliveries. */
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
