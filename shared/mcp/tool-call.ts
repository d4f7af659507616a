/** Handles one call of a tool: its answer, its progress and its end. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type {
  CallToolResult,
  ServerNotification,
  ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import { isTerminal } from '../request-status.ts'
import { answerOf, GO_ON } from './answer.ts'
import type { Calls, Status } from './calls.ts'
import type { RequestAnswer } from './schemas.ts'

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** Between two checks of a request that is waited for. */
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 3_000
/** Progress must increase with every message. */
const PROGRESS_STEP = 0.0001

/** Returns the result of a tool: structured, and as text for clients that only support text. */
export async function toolResult(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    return resultOf(await work())
  } catch (error) {
    return { ...resultOf(failureOf(error)), isError: true }
  }
}

function resultOf(answer: object): CallToolResult {
  const text = JSON.stringify(answer)
  const structuredContent = JSON.parse(text) as Record<string, unknown> // without undefined values
  return { content: [{ type: 'text', text }], structuredContent }
}

/** Thrown if a request ends without a result. */
class RequestFailure extends Error {
  readonly answer: RequestAnswer

  constructor(answer: RequestAnswer) {
    super(answer.error?.message)
    this.answer = answer
  }
}

function failureOf(error: unknown): RequestAnswer {
  if (error instanceof RequestFailure) return error.answer
  const { code, message, param } = error as Error & { code?: unknown; param?: string }
  return { error: { code: typeof code === 'string' ? code : 'FAILED', message, param } }
}

type Report = (progress: number, message: string) => Promise<void>

/** Returns a function that reports progress, from 0 to 1, if the client asked for it. */
export function reporterOf({ _meta, sendNotification }: Extra): Report {
  const progressToken = _meta?.progressToken
  let last = -1
  return async (part, message) => {
    if (progressToken === undefined) return
    last = Math.max(part, last + PROGRESS_STEP)
    const params = { progressToken, progress: last, total: 1, message }
    await sendNotification({ method: 'notifications/progress', params })
  }
}

interface Waiting {
  seconds: number
  signal: AbortSignal
  report: Report
}

/**
 * Waits for a request of this call, which is canceled if the call is.
 * @throws RequestFailure if it fails, and the signal's reason
 */
export async function answerInTime(
  calls: Calls,
  requestId: string,
  waiting: Waiting,
): Promise<RequestAnswer> {
  let answer: RequestAnswer
  try {
    answer = await answerOf(calls, await statusInTime(calls, requestId, waiting))
  } catch (error) {
    if (waiting.signal.aborted) await calls.cancel(requestId)
    throw new RequestFailure({ ...failureOf(error), request_id: requestId, next: GO_ON })
  }
  if (answer.error) throw new RequestFailure(answer)
  return answer
}

/** Returns the final status of a request, or its status when time is up. */
export async function statusInTime(
  calls: Calls,
  requestId: string,
  { seconds, signal, report }: Waiting,
): Promise<Status> {
  const until = performance.now() + 1_000 * seconds
  for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(1.5 * pauseMs, PAUSE_MS_MAX)) {
    signal.throwIfAborted()
    const status = await calls.status(requestId)
    const leftMs = until - performance.now()
    if (isTerminal(status.status) || leftMs <= 0) return status
    await report(status.progress ?? 0, phaseOf(status))
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal })
  }
}

function phaseOf({ status, queue_position: position }: Status): string {
  if (status === 'IN_PROGRESS') return 'working'
  return position === undefined ? 'waiting' : `waiting, number ${position}`
}
