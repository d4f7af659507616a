/** The trace that a message belongs to, in its headers. */

import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { currentTraceParent } from '../telemetry/tracing.ts'

const TRACE_HEADER = 'traceparent'

/** Options of a publish by which the message carries the span that is active. */
export function carryingTrace(): { headers?: MsgHdrs } {
  const traceParent = currentTraceParent()
  if (traceParent === null) return {}
  const carried = headers()
  carried.set(TRACE_HEADER, traceParent)
  return { headers: carried }
}

/** The `traceparent` that came with a message; null: none. */
export const traceParentOf = (message: { headers?: MsgHdrs | undefined }): string | null =>
  message.headers?.get(TRACE_HEADER) || null
