/** Errors that calls throw. */

export interface ErrorDetails {
  code: string
  message: string
  param?: string | undefined
  request_id?: string | undefined
}

/** Parts of an HTTP response other than its body. */
export interface ResponseInfo {
  status?: number
  /** Empty over HTTP/2. */
  statusText?: string
  /** The header `Retry-After`. */
  retryAfter?: string | null
}

/** The service refused a call, or a request failed; with the service's message. */
export class ApiError extends Error {
  /** Machine-readable, such as `INVALID_PARAMETER`; `HTTP_<status>` when a proxy answered. */
  readonly code: string
  /** The invalid field, such as `input.spans[2].end`. */
  readonly param: string | undefined
  /** The queued request, if any. */
  readonly requestId: string | undefined
  /** The HTTP status; undefined if an accepted request failed later. */
  readonly status: number | undefined
  /** How long to wait before another attempt, if the service says so. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    { code, message, param, request_id: requestId }: ErrorDetails,
    { status, retryAfter }: ResponseInfo = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.param = param
    this.requestId = requestId
    this.status = status
    this.retryAfterSeconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined
  }
}

/** The service cannot be reached, or did not respond in time. */
export class UnreachableError extends Error {
  constructor(address: string, cause: unknown, problem = 'does not answer') {
    super(`${address} ${problem}.`, { cause })
    this.name = 'UnreachableError'
  }
}

/** Returns the error of an unsuccessful response, whose text may be a proxy's page. */
export function refusal(text: string, info: ResponseInfo & { status: number }): ApiError {
  const { status, statusText } = info
  const message = statusText || `The service answered with status ${status}.`
  return readError(text, info) ?? new ApiError({ code: `HTTP_${status}`, message }, info)
}

/** Reads the error of an `ErrorResponse`; undefined if `text` is something else. */
export function readError(text: string, info?: ResponseInfo): ApiError | undefined {
  try {
    const { error } = JSON.parse(text) as { error: ErrorDetails }
    return error.message ? new ApiError(error, info) : undefined
  } catch {
    return undefined // a proxy's page, perhaps
  }
}
