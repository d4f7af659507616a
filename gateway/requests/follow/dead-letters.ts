/** Handles a request whose job or event was delivered too often, or whose event is not valid. */

import type { DeadLetter } from '../../../shared/broker/broker.ts'
import { failRequest, type FinishDeps } from './finish-request.ts'
import { findRequest } from '../../store/requests.ts'
import type { RequestRow } from '../../store/schema/tables.ts'
import type { Logger } from '../../../shared/telemetry/log.ts'

type LetterDeps = FinishDeps & { log: Logger; metrics: { deadLetter(stream: string): void } }

const REASONS = {
  JOBS: 'Every engine that tried the request was lost on the way.',
  EVENTS: 'An engine ended the request, but what it reported was not valid or could not be stored.',
}

/**
 * Creates a handler for `broker.followDeadLetters`. It logs the lost message, and fails its request
 * if nothing else can still end it. The rescuer takes care of the others.
 */
export const createDeadLetterHandler =
  (deps: LetterDeps) =>
  async (letter: DeadLetter): Promise<void> => {
    const { stream, sequence, request_id: requestId, attempt_id: attemptId, type } = letter
    deps.log.error(
      { stream, sequence, requestId, attemptId, event: type },
      'a message could not be handled; it is kept in the stream DEAD_LETTERS',
    )
    deps.metrics.deadLetter(stream)
    const row = requestId === undefined ? undefined : await findRequest(deps.store, requestId)
    if (!row || !isTheLast(row, letter)) return
    const reason = stream === 'JOBS' ? REASONS.JOBS : REASONS.EVENTS
    await failRequest(deps, row.request_id, { code: 'ENGINE_LOST', message: reason })
  }

/** Returns whether no other job, attempt or event can still end the request. */
function isTheLast(row: RequestRow, { stream, sequence, attempt_id, type }: DeadLetter): boolean {
  if (stream === 'JOBS') return row.job_sequence === sequence
  return row.attempt_id === attempt_id && (type === 'completed' || type === 'failed')
}
