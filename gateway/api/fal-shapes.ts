/**
 * The shapes of fal's queue API, as `@fal-ai/client` 1.10 sends and reads them. The fields of
 * `fal-ai/sam-audio` have the names and limits of ours; only what differs is translated.
 */

import { ServiceError } from '../../shared/errors.ts'
import type { QueueStatusResponse } from './schemas.ts'
import type { WebhookEvent } from './webhook-schemas.ts'

export const FAL_APP = 'fal-ai/sam-audio'

/** The models of the app that Winnow supports. */
export const FAL_MODELS = ['separate', 'span-separate'] as const

/** The path at which gateways answer fal's clients. Each of fal's hosts has a folder there. */
export const FAL_PATH = '/fal'
/** The paths of uploads, each with its token. */
export const FAL_UPLOADS = `${FAL_PATH}/uploads/`

export const FAL_QUEUE = `${FAL_PATH}/queue/${FAL_APP}`

/** Returns the address that stands for a client's uploaded Blob, for `audio_url`. */
export const falFileUrl = (publicUrl: string, fileId: string): string =>
  `${publicUrl}${FAL_PATH}/files/${fileId}`

/** Returns a path for the log: whoever knows the token in an upload's can send its bytes. */
export const withoutUploadToken = (path: string): string =>
  path.startsWith(FAL_UPLOADS) ? `${FAL_UPLOADS}…` : path

/**
 * Returns the path within `FAL_PATH` for one of fal's own addresses, which its client names in the
 * header `x-fal-target-url` if it has a proxy. Returns undefined for any other address.
 */
export function falPath(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined
  const { hostname, pathname, search } = new URL(target)
  const [, host] = /^(queue|rest)\.fal\.(?:run|ai)$/.exec(hostname) ?? []
  if (host === undefined && hostname !== 'fal.run') return undefined
  return `${FAL_PATH}/${host ?? 'run'}${pathname}${search}`
}

/**
 * Returns the body of a submit for the input of fal's `separate` or `span-separate`.
 * @throws ServiceError `INVALID_PARAMETER` for what Winnow lacks
 */
export function submitBody(
  input: unknown,
  { publicUrl, webhookUrl }: { publicUrl: string; webhookUrl: string | undefined },
): unknown {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) {
    throw new ServiceError('INVALID_REQUEST', { message: 'The body must be an object.' })
  }
  const { trim_to_span: isTrimmed, ...rest } = input as Record<string, unknown>
  if (isTrimmed !== undefined && isTrimmed !== null && isTrimmed !== false) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: 'trim_to_span is not supported: outputs have the length of the media.',
      param: 'input.trim_to_span',
    })
  }
  const { audio_url: url, ...others } = rest
  if (typeof url === 'string' && url.startsWith('data:')) {
    throw new ServiceError('INVALID_AUDIO_URL', {
      message: 'audio_url must not be a data URI: give a Blob, which the client uploads.',
      param: 'input.audio_url',
    })
  }
  const files = falFileUrl(publicUrl, '')
  const isOurs = typeof url === 'string' && url.startsWith(files)
  const source = isOurs
    ? { file_id: url.slice(files.length) }
    : url !== undefined && { audio_url: url }
  return { input: { ...others, ...source }, ...(webhookUrl !== undefined && { webhookUrl }) }
}

export function falAddresses(publicUrl: string, requestId: string) {
  const url = `${publicUrl}${FAL_QUEUE}/requests/${requestId}`
  return {
    request_id: requestId,
    response_url: url,
    status_url: `${url}/status`,
    cancel_url: `${url}/cancel`,
  }
}

/** Returns fal's status of a request. One that has failed is COMPLETED, and its result says why. */
export function falStatus(publicUrl: string, status: QueueStatusResponse): object {
  const addresses = falAddresses(publicUrl, status.request_id)
  if (status.status === 'IN_QUEUE') {
    const { queue_position: position = 1 } = status
    return { status: 'IN_QUEUE', queue_position: position - 1, ...addresses }
  }
  const logs = (status.logs ?? []).map(({ timestamp, message }) => ({
    timestamp,
    message,
    level: 'INFO',
    source: 'USER',
  }))
  if (status.status === 'IN_PROGRESS') return { status: 'IN_PROGRESS', logs, ...addresses }
  return {
    status: 'COMPLETED',
    logs,
    ...addresses,
    ...(status.error && { error: status.error.message, error_type: status.error.code }),
  }
}

export function falEvent(event: WebhookEvent): object {
  const ids = { request_id: event.request_id, gateway_request_id: event.request_id }
  if (event.status === 'COMPLETED') return { ...ids, status: 'OK', payload: event.data }
  const { message } = event.error
  return { ...ids, status: 'ERROR', error: message, payload: { detail: message } }
}

/**
 * Returns fal's status and body for an error. For invalid input the status is 422, as in FastAPI.
 */
export function falError(error: ServiceError): { status: number; body: object } {
  const { code, message, param } = error
  const isOfInput = error.status === 400 && param !== undefined
  if (!isOfInput) return { status: error.status, body: { detail: message, message, code } }
  const loc = ['body', ...pathOf(param.replace(/^input\./, ''))]
  return { status: 422, body: { detail: [{ loc, msg: message, type: code }], message, code } }
}

/** Splits a path such as `spans[2].end` into its parts. */
const pathOf = (param: string): (string | number)[] =>
  param
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
