/** The errors of a call. */

export interface ErrorDetails {
  code: string
  message: string
  param?: string | undefined
  request_id?: string | undefined
}

/** Parts of an HTTP answer besides its body. */
export interface ResponseInfo {
  status?: number
  /** The header `Retry-After`. */
  retryAfter?: string | null
}

/** A refusal of the service, or the failure of a request, with the service's message. */
export class ApiError extends Error {
  /** Machine-readable, such as `INVALID_PARAMETER`; `HTTP_<status>` when a proxy answered. */
  readonly code: string
  /** The field at fault, such as `input.spans[2].end`. */
  readonly param: string | undefined
  /** The queue request, if any. */
  readonly requestId: string | undefined
  /** The HTTP answer's; undefined when a request failed that had been accepted. */
  readonly status: number | undefined
  /** After so long another try may succeed, where the service says so. */
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

/** The error that an `ErrorResponse` carries; undefined when `text` is none. */
export function readError(text: string, answered?: ResponseInfo): ApiError | undefined {
  try {
    return new ApiError((JSON.parse(text) as { error: ErrorDetails }).error, answered)
  } catch {
    return undefined // a proxy's page, perhaps
  }
}
