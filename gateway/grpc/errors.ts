/** Turns errors of the service into gRPC statuses; separation.proto has the table. */

import { Metadata, status, type ServiceError as StatusError } from '@grpc/grpc-js'
import type { MessageTypeDefinition } from '@grpc/proto-loader'
import { ServiceError, type ErrorCode } from '../../shared/errors.ts'
import { isId } from '../../shared/ids.ts'
import { loadProto } from '../../shared/proto.ts'

type Message = MessageTypeDefinition<object, object>

const { 'google.rpc.Status': rpcStatusType } = loadProto('google/rpc/status.proto')
const detailTypes = loadProto('google/rpc/error_details.proto')

const rpcStatus = (message: object): Buffer => (rpcStatusType as Message).serialize(message)

const detail = (name: 'google.rpc.ErrorInfo' | 'google.rpc.RetryInfo', message: object) => ({
  type_url: `type.googleapis.com/${name}`,
  value: (detailTypes[name] as Message).serialize(message),
})

const BY_HTTP_STATUS: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  402: status.FAILED_PRECONDITION,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  405: status.UNIMPLEMENTED,
  409: status.FAILED_PRECONDITION,
  410: status.FAILED_PRECONDITION,
  413: status.INVALID_ARGUMENT,
  415: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  500: status.INTERNAL,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
}

const BY_CODE: Partial<Record<ErrorCode, status>> = { IDEMPOTENCY_CONFLICT: status.ALREADY_EXISTS }

/** Metadata allows visible ASCII only, and clients accept trailers of a few KiB. */
const VISIBLE = /^[\x20-\x7e]+$/
const MESSAGE_CHARACTERS_MAX = 500
const FIELD_CHARACTERS_MAX = 200

/**
 * Returns the gRPC status of an error, with its message and fields cut to lengths that trailers may
 * have.
 * @param requestId the id of the queue request, if there is one; an invalid id is left out
 */
export function grpcStatus(error: ServiceError, requestId?: string): StatusError {
  const message = error.message.slice(0, MESSAGE_CHARACTERS_MAX)
  const code = BY_CODE[error.code] ?? BY_HTTP_STATUS[error.status] ?? status.INTERNAL
  const more = {
    ...(error.param !== undefined && { param: error.param.slice(0, FIELD_CHARACTERS_MAX) }),
    ...(requestId !== undefined && isId(requestId) && { request_id: requestId }),
  }
  const metadata = new Metadata()
  metadata.set('winnow-code', error.code)
  for (const [name, value] of Object.entries(more)) {
    if (VISIBLE.test(value)) metadata.set(`winnow-${name.replace('_', '-')}`, value)
  }
  const details = [
    detail('google.rpc.ErrorInfo', { reason: error.code, domain: 'winnow', metadata: more }),
  ]
  const { retryAfterSeconds: seconds } = error
  if (seconds !== undefined) {
    metadata.set('winnow-retry-after', String(seconds))
    details.push(detail('google.rpc.RetryInfo', { retry_delay: { seconds } }))
  }
  metadata.set('grpc-status-details-bin', rpcStatus({ code, message, details }))
  return Object.assign(new Error(message), { code, details: message, metadata })
}

/** Returns the error as clients may see it. */
export const toServiceError = (error: unknown): ServiceError =>
  error instanceof ServiceError ? error : new ServiceError('INTERNAL', { cause: error })
