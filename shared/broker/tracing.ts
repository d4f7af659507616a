/** Carries the trace that a message belongs to in its headers. */

import { headers, type MsgHdrs } from '@nats-io/transport-node'
import { currentTraceParent } from '../telemetry/tracing.ts'

const TRACE_HEADER = 'traceparent'

/** Returns publish options that make the message carry the active span. */
export function carryingTrace(): { headers?: MsgHdrs } {
  const traceParent = currentTraceParent()
  if (traceParent === null) return {}
  const carried = headers()
  carried.set(TRACE_HEADER, traceParent)
  return { headers: carried }
}

/** Returns the `traceparent` of a message; null if it has none. */
export const traceParentOf = (message: { headers?: MsgHdrs | undefined }): string | null =>
  message.headers?.get(TRACE_HEADER) || null
