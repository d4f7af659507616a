/** Turns a thrown error into a response: a code for the client, the cause for the log. */

import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import { isId } from '../../shared/ids.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { logFailure } from './call-log.ts'
import { earlyAnswer } from './early-response.ts'
import type { ErrorResponse } from './schemas.ts'

interface PresentedError {
  status: number
  body: object
}

/** Responds with `error`, and logs it if the gateway is at fault. */
export const answerError = errorAnswerer((error, requestId) => ({
  status: error.status,
  body: errorBody(error, requestId),
}))

/**
 * Creates a handler like `answerError` that responds in another shape.
 * @param present gets the id of the queue request, if there is one
 */
export function errorAnswerer(
  present: (error: ServiceError, requestId: string | undefined) => PresentedError,
) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const failure = toServiceError(error, request)
    logFailure(request.log as Logger, failure, { error, callId: request.id })
    if (failure.code === 'UNAUTHENTICATED') reply.header('www-authenticate', 'Bearer')
    const { retryAfterSeconds } = failure
    if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds)
    const { request_id: requestId } = Object(request.params) as { request_id?: string }
    const namesRequest = failure.code !== 'NOT_FOUND'
    const { status, body } = present(failure, namesRequest ? requestId : undefined)
    reply.status(status)
    if (request.raw.complete) reply.send(body)
    else answerEarly(JSON.stringify(body), request, reply)
  }
}

/**
 * Answers while the rest of the request is still arriving; the answer is the last of its
 * connection.
 */
function answerEarly(text: string, request: FastifyRequest, reply: FastifyReply): void {
  reply
    .header('connection', 'close')
    .type('application/json; charset=utf-8')
    .header('content-length', Buffer.byteLength(text))
    .send(earlyAnswer(text, request.raw))
}

/**
 * Returns the body of an error response.
 * @param requestId the id of the queue request, if there is one
 */
export const errorBody = (error: ServiceError, requestId?: string): ErrorResponse => ({
  error: {
    code: error.code,
    message: error.message,
    ...(error.param !== undefined && { param: error.param }),
    ...(requestId !== undefined && isId(requestId) && { request_id: requestId }),
  },
})

/** Responds to invalid HTTP while the connection can still be written to. */
export function answerBrokenHttp(error: Error & { code: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const message =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'The request was not whole in time; send it again.'
      : 'This is not a valid HTTP request.'
  const refusal = new ServiceError('INVALID_REQUEST', { message })
  const body = JSON.stringify(errorBody(refusal))
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/** Returns `error` itself if a client may see it, otherwise a general error. */
export function toServiceError(error: unknown, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error
  const { code, statusCode } = Object(error) as { code?: string; statusCode?: number }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return bodyTooLarge(request)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new ServiceError('INVALID_REQUEST', {
      message: 'The body must be JSON, with the header Content-Type: application/json.',
    })
  }
  if (code === 'FST_ERR_BAD_URL') return new ServiceError('NOT_FOUND')
  if (code === 'ECONNRESET' && request.raw.destroyed) {
    return new ServiceError('INVALID_REQUEST', { message: 'The connection ended before the body.' })
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode <= 499) {
    return new ServiceError('INVALID_REQUEST', { message: (error as Error).message })
  }
  return new ServiceError('INTERNAL', { cause: error })
}

/** Responds with 413 where the contract lists it, elsewhere with `INVALID_REQUEST`. */
function bodyTooLarge({ routeOptions }: FastifyRequest): ServiceError {
  const listed = Object.hasOwn(Object(routeOptions.schema?.response), '413')
  const message = `The body is larger than ${routeOptions.bodyLimit} bytes.`
  return new ServiceError(listed ? 'PAYLOAD_TOO_LARGE' : 'INVALID_REQUEST', { message })
}
