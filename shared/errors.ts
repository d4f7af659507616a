/** The table of error codes: every failure a client can see, over HTTP, gRPC, webhook or result. */

export const ERRORS = {
  INVALID_REQUEST: { status: 400, message: 'The request is not valid.' },
  INVALID_PARAMETER: { status: 400, message: 'A parameter is outside its limits.' },
  INVALID_AUDIO_URL: { status: 400, message: 'audio_url must be a public HTTPS URL of media.' },
  INVALID_WEBHOOK_URL: { status: 400, message: 'webhookUrl must be a public HTTPS URL.' },
  UNAUTHENTICATED: { status: 401, message: 'The API key is missing or invalid.' },
  INSUFFICIENT_CREDITS: {
    status: 402,
    message: 'The balance does not cover this media; ask an admin for credits.',
  },
  PERMISSION_DENIED: {
    status: 403,
    message: 'The API key lacks the required scope; use one that has it.',
  },
  ACCOUNT_DISABLED: {
    status: 403,
    message: 'The account of this API key is disabled; ask an admin to enable it.',
  },
  NOT_FOUND: { status: 404, message: 'There is nothing at this address.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This address does not take that method.' },
  FILE_NOT_UPLOADED: { status: 409, message: 'PUT the bytes of the file to its upload_url first.' },
  FILE_ALREADY_UPLOADED: {
    status: 409,
    message: 'The file has already been uploaded; create another for other bytes.',
  },
  RESULT_NOT_READY: {
    status: 409,
    message: 'The request has not finished yet; follow its status.',
  },
  REQUEST_FAILED: { status: 409, message: 'The request failed.' },
  REQUEST_FINISHED: { status: 409, message: 'The request has already finished.' },
  MEDIA_IN_USE: {
    status: 409,
    message: 'A running request uses this media; cancel it or wait until it ends.',
  },
  MODEL_CONFLICT: {
    status: 409,
    message: 'No engine can do that with this model now; GET /admin/models shows its state.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    message: 'This Idempotency-Key was already used with a different body; use a new key.',
  },
  FILE_EXPIRED: { status: 410, message: 'The file has expired; upload it again.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than allowed; send less.' },
  MEDIA_TOO_LONG: { status: 413, message: 'The media is longer than allowed; split it.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'content_type must be audio/*, video/*, application/ogg or application/octet-stream.',
  },
  MEDIA_QUOTA_EXCEEDED: {
    status: 429,
    message: 'The account has reached its media quota; delete files or requests.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many requests; retry later.' },
  INTERNAL: {
    status: 500,
    message: 'The service failed; retry, and give an admin the x-request-id.',
  },
  MEDIA_FETCH_FAILED: {
    status: 502,
    message: 'audio_url could not be fetched; check that anyone can download it.',
  },
  QUEUE_UNAVAILABLE: { status: 502, message: 'The request could not be queued; retry it.' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: "The database can't be reached; retry in a moment.",
  },
  MODEL_FAILED: { status: 500, message: 'The model failed on this media; submit it again.' },
  CHUNK_TOO_LARGE: {
    status: 500,
    message: "A chunk of this media doesn't fit in the device's memory; lower max_chunk_duration.",
  },
  INVALID_MEDIA: { status: 400, message: 'The media could not be decoded; send another format.' },
  NO_AUDIO_STREAM: {
    status: 400,
    message: 'The media has no audio stream; send media with sound.',
  },
  ENGINE_LOST: { status: 500, message: 'No engine could finish the request; submit it again.' },
  CANCELED: { status: 409, message: 'The request was canceled.' },
} as const

export type ErrorCode = keyof typeof ERRORS

/** The codes with which a request can end `FAILED` (docs/reference/errors.md). */
export const FAILURE_CODES = [
  'MODEL_FAILED',
  'CHUNK_TOO_LARGE',
  'INVALID_MEDIA',
  'NO_AUDIO_STREAM',
  'INVALID_AUDIO_URL',
  'MEDIA_FETCH_FAILED',
  'PAYLOAD_TOO_LARGE',
  'MEDIA_TOO_LONG',
  'INSUFFICIENT_CREDITS',
  'MEDIA_QUOTA_EXCEEDED',
  'ENGINE_LOST',
  'CANCELED',
  'INVALID_PARAMETER',
] as const satisfies readonly ErrorCode[]

export type FailureCode = (typeof FAILURE_CODES)[number]

interface ServiceErrorOptions {
  /** What was wrong and what would be right (default: the table's message). */
  message?: string
  /** Dotted path of the offending field, such as `input.spans[2].end`. */
  param?: string
  /** Goes to the log, never to the client. */
  cause?: unknown
  /** After how many seconds a retry may succeed. */
  retryAfterSeconds?: number
}

/** An error whose code and message a client may see. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly param: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    const { message, param, cause, retryAfterSeconds } = options
    super(message ?? ERRORS[code].message, { cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = ERRORS[code].status
    this.param = param
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Returns the failure code of `error`, or `fallback` if it has none that may end a request. */
export function failureCode(error: unknown, fallback: FailureCode): FailureCode {
  const code = error instanceof ServiceError ? error.code : undefined
  return FAILURE_CODES.find((failure) => failure === code) ?? fallback
}
