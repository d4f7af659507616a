/** The id of one call, in its answer and in the log: X-Request-Id over HTTP and gRPC. */

import { newId } from '../../shared/ids.ts'

const FORM = /^[\w.:-]{1,128}$/

/** The caller's own id when it is fit for a log, else a new one. */
export const callIdOf = (callerId: unknown, kind: 'http' | 'grpc'): string =>
  typeof callerId === 'string' && FORM.test(callerId) ? callerId : newId(kind)
