/** Makes ids of calls, which answers and the log contain: X-Request-Id over HTTP and gRPC. */

import { newId } from '../../shared/ids.ts'

const FORM = /^[\w.:-]{1,128}$/

/** Returns the caller's own id if it is fit for a log, otherwise a new one. */
export const callIdOf = (callerId: unknown, kind: 'http' | 'grpc'): string =>
  typeof callerId === 'string' && FORM.test(callerId) ? callerId : newId(kind)
