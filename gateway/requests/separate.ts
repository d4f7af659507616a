/**
 * Separates a file, or lists its sounds, in one call: receives the file, submits the request and
 * waits for its end. HTTP and gRPC share it.
 */

import { ServiceError } from '../../shared/errors.ts'
import type { RequestKind } from '../../shared/request-kind.ts'
import { assertScope } from '../accounts/auth.ts'
import { SUBMISSION_CHECKS } from '../api/validation.ts'
import type { KeyWithAccount } from '../store/api-keys.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import {
  discardFile,
  receiveFile,
  type IncomingFile,
  type ReceiveDeps,
} from './submit/receive-file.ts'
import type { RequestFeed } from './follow/request-feed.ts'
import { waitForEnd, type WatchDeps } from './follow/status-watch.ts'
import { submit, type SubmitDeps } from './submit/submit.ts'

export type SeparateDeps = SubmitDeps &
  ReceiveDeps &
  WatchDeps & { feed: Pick<RequestFeed, 'watch'> }

/** Stands for the file while its bytes are still to come. */
const TO_COME = 'file_to_come'

/** The longest wait, because proxies cut off calls that go unanswered for longer. */
export const WAIT_SECONDS_MAX = 60

/** Says what is to be done with a file, or with the source that the body names. */
export interface CallFields {
  /** Like the JSON body of a submit, but without a source if there is a file. */
  body: unknown
  metadataText?: string | undefined
}

export interface SeparationCall extends CallFields {
  kind: RequestKind
  /** If there is a file, the fields above are those that came before it. */
  file?: CallFile | undefined
  idempotencyKey: string | string[] | undefined
  /** How long to wait for the result; 0 means not at all. */
  waitSeconds: number
  /** Aborts when the client no longer waits for the answer. */
  signal: AbortSignal
}

export interface CallFile extends Omit<IncomingFile, 'fileId' | 'signal'> {
  /**
   * Returns the fields of the whole call, once its file is read.
   * @throws ServiceError for fields that must not follow the file
   */
  end(): Promise<CallFields>
}

export interface SeparateAnswer {
  /** The JSON of a QueueSubmitResponse. */
  answer: string
  /** The request, if it has ended within the wait. */
  ended?: RequestRow | undefined
  waitedSecondsMax: number
}

/**
 * Takes a call and waits for its result.
 * @throws ServiceError like the calls that create a file, upload its bytes and submit a request
 */
export async function separate(
  deps: SeparateDeps,
  key: KeyWithAccount,
  call: SeparationCall,
): Promise<SeparateAnswer> {
  const answer = await take(deps, key, call)
  const seconds = Math.min(call.waitSeconds, WAIT_SECONDS_MAX)
  const { request_id: requestId } = JSON.parse(answer) as { request_id: string }
  const ended =
    seconds > 0 ? await tryWaitForEnd(deps, key, { ...call, requestId, seconds }) : undefined
  return { answer, ended, waitedSecondsMax: seconds }
}

async function take(
  deps: SeparateDeps,
  key: KeyWithAccount,
  call: SeparationCall,
): Promise<string> {
  const { file } = call
  if (!file) return (await submit(deps, key, call)).answer
  const { file: received, hash } = await takeFile(deps, key, { ...call, file })
  const { file_id: fileId } = received
  try {
    const { body, metadataText } = await file.end()
    const { answer, isRepeated } = await submit(deps, key, {
      ...call,
      body: withFile(body, fileId),
      metadataText,
      fingerprinted: withFile(body, hash),
      received,
    })
    if (isRepeated) await discardFile(deps, fileId) // the earlier call has a file of its own
    return answer
  } catch (error) {
    await discardFile(deps, fileId)
    throw error
  }
}

async function takeFile(
  deps: SeparateDeps,
  key: KeyWithAccount,
  { kind, file, body, metadataText, signal }: SeparationCall & { file: CallFile },
) {
  assertScope(key, 'files:write')
  // Checked before the file is sent, unless the prompt comes after it.
  if (kind === 'sounds' || hasPrompt(body)) {
    SUBMISSION_CHECKS[kind](withFile(body, TO_COME), metadataText)
  }
  return receiveFile(deps, key.account_id, { ...file, signal })
}

const hasPrompt = (body: unknown): boolean => {
  const { prompt, prompts } = Object(Object(body).input)
  return prompt !== undefined || prompts !== undefined
}

/** @throws ServiceError `INVALID_PARAMETER` when the body names another file */
function withFile(body: unknown, fileId: string) {
  const { input, ...top } = Object(body)
  if (Object(input).file_id !== undefined) {
    const message = 'Give exactly one of file and file_id.'
    throw new ServiceError('INVALID_PARAMETER', { message, param: 'input.file_id' })
  }
  return { ...top, input: { ...input, file_id: fileId } }
}

/**
 * Returns what `work` resolves with; undefined, after logging why, if the gateway is at fault. The
 * request is accepted, so its id must reach the client.
 * @throws ServiceError below 500
 */
export async function unlessAtFault<T>(
  log: { error(fields: object, message: string): void },
  requestId: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) throw error
    log.error({ err: error, requestId }, 'a call gets only the id of its request')
    return undefined
  }
}

/**
 * Waits for the end of the request. Returns undefined if it has not ended in time, if the account
 * has too many streams open to wait, or if the gateway is at fault.
 */
async function tryWaitForEnd(
  deps: SeparateDeps,
  key: KeyWithAccount,
  { requestId, seconds, signal }: { requestId: string; seconds: number; signal: AbortSignal },
): Promise<RequestRow | undefined> {
  try {
    const wait = { key, requestId, seconds, signal }
    return await unlessAtFault(deps.log, requestId, () => waitForEnd(deps, wait))
  } catch (error) {
    // as many streams are open as the account may have
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return undefined
    throw error
  }
}
