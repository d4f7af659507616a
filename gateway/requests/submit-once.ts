/** The way in for a submission, over HTTP and gRPC: checked, and repeated safely under its key. */

import type { Deps } from '../deps.ts'
import { answerOnce, keepAnswer, readIdempotencyKey } from './idempotency.ts'
import { presentSubmitted } from './presenter.ts'
import { submit } from './separations.ts'
import type { RequestRow } from '../store/tables.ts'
import { checkSubmission } from '../api/validation.ts'

/** What a client sends. */
export interface Submitted {
  body: unknown
  /** The compact JSON of its metadata, if it has any. */
  metadataText?: string | undefined
  /** As it came in the header of that name. */
  idempotencyKey?: string | string[] | undefined
  /** Fires when nobody waits for the answer any more. */
  signal?: AbortSignal
}

/**
 * Submits a body for an account, or repeats what was answered to its Idempotency-Key.
 * @returns the JSON of a QueueSubmitResponse, the same to the byte for a repeated key
 * @throws ServiceError with the code of endpoint 5 that fits
 */
export async function submitOnce(
  deps: Deps,
  accountId: string,
  { body, metadataText, idempotencyKey, signal }: Submitted,
): Promise<string> {
  const submission = checkSubmission(body, metadataText)
  const key = readIdempotencyKey(idempotencyKey, accountId, body)
  const answerOf = (row: RequestRow) => JSON.stringify(presentSubmitted(row, deps.config))
  const submitNew = async () =>
    answerOf(
      await submit(deps, accountId, submission, {
        signal,
        ...(key && {
          first: (store, row) =>
            keepAnswer(store, deps, key, { requestId: row.request_id, answer: answerOf(row) }),
        }),
      }),
    )
  return key ? answerOnce(deps, key, submitNew) : submitNew()
}
