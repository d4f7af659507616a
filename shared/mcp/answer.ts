/** Turns the status and result of a request from the API into a tool's answer of limited size. */

import type { Calls, Finding, OutputFile, Result, Status } from './calls.ts'
import type { RequestAnswer } from './schemas.ts'

/** Limits for sounds, and for the spans of each, because a model reads all of it. */
const SOUNDS_MAX = 40
const SPANS_MAX = 10

/** For unfinished requests: what to do next. */
export const GO_ON =
  'It is not finished. Call get_request with this request_id and wait_seconds, or cancel_request.'

const TRY_AGAIN =
  'Not every prompt was found: call separate again with one of its suggestions or a name in sounds.'

/** Returns a tool's answer about a request with this status. */
export async function answerOf(calls: Calls, status: Status): Promise<RequestAnswer> {
  const { request_id: id, error } = status
  const head = { request_id: id, status: status.status }
  if (status.status === 'COMPLETED') return { ...head, ...resultAnswer(await calls.result(id)) }
  if (error) return { ...head, error: { code: error.code, message: error.message } }
  const { progress, queue_position, estimated_seconds_left } = status
  return { ...head, progress, queue_position, estimated_seconds_left, next: GO_ON }
}

function resultAnswer({ data, retention }: Result): RequestAnswer {
  const findings = data.findings?.map(findingAnswer)
  const isUnclear = findings?.some(({ suggestions }) => suggestions !== undefined)
  return {
    duration_seconds: data.duration,
    outputs: outputsOf(data),
    findings,
    sounds: data.sounds
      ?.slice(0, SOUNDS_MAX)
      .map(({ name, share, match, spans }) => ({
        name,
        share,
        match,
        spans: spans.slice(0, SPANS_MAX),
      })),
    delete_after: retention.delete_after,
    next: isUnclear ? TRY_AGAIN : undefined,
  }
}

function findingAnswer({ prompt, state, message, match, quality, ...finding }: Finding) {
  const { nearest = [], similar_to: similar } = finding
  const suggestions = state === 'found' ? [] : [...nearest, ...(similar ? [similar] : [])]
  return { prompt, state, message, match, quality, ...(suggestions.length > 0 && { suggestions }) }
}

/** Returns the outputs of a separation; undefined for a list of sounds. */
export function outputsOf({ target, targets, residual }: Result['data']) {
  if (!target || !residual) return undefined
  const all: (OutputFile & { prompt?: string })[] = targets ?? [target]
  return [
    ...all.map((file) => ({ role: 'target' as const, prompt: file.prompt, ...placeOf(file) })),
    { role: 'residual' as const, ...placeOf(residual) },
  ]
}

const placeOf = ({ file_name, url, video_url }: OutputFile) => ({ file_name, url, video_url })
