/** Fields of a call's log line: its id, whose call it was, from where, and what failed. */

import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { ErrorCode, ServiceError } from '../../shared/errors.ts'
import { matchesCidrs } from '../../shared/http/public-address.ts'
import { newId } from '../../shared/ids.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { ApiKeyRow } from '../store/schema/tables.ts'

declare module 'fastify' {
  interface FastifyRequest {
    client: string
  }
}

/** The ids that are fit for a log. */
const CALL_ID = /^[\w.:-]{1,128}$/

/** Returns the caller's own id if it is fit for a log, otherwise a new one. */
export const callIdOf = (callerId: unknown, kind: 'http' | 'grpc'): string =>
  typeof callerId === 'string' && CALL_ID.test(callerId) ? callerId : newId(kind)

export const callerOf = ({ account_id: accountId, key_id: keyId }: ApiKeyRow) => ({
  accountId,
  keyId,
})

/**
 * Codes of 500 and above for errors that something named by the client causes, so that the log
 * needs no stack.
 */
const OF_CLIENTS: readonly ErrorCode[] = ['MEDIA_FETCH_FAILED']

/** Logs a failure with its cause if the gateway is at fault. */
export function logFailure(
  log: Pick<Logger, 'error'>,
  { status, code, cause }: ServiceError,
  { error, callId }: { error: unknown; callId: string },
): void {
  if (status < 500 || OF_CLIENTS.includes(code)) return
  log.error({ err: error, cause, callId }, code)
}

/**
 * Returns the client's address by Fastify's trustProxy. A proxy may pass on something that is not
 * an address.
 */
export const clientAddress = ({ ip, socket }: FastifyRequest): string =>
  isIP(ip) > 0 ? ip : (socket.remoteAddress ?? '')

/**
 * Returns the client's address over gRPC by the same rule: the nearest of the addresses that the
 * call came through that is not a trusted proxy.
 * @param peer `host:port` of the connection
 * @param forwardedFor the values of X-Forwarded-For, each with addresses, the nearest last
 * @param trustedProxies networks in CIDR notation
 */
export function grpcClientAddress(
  peer: string,
  forwardedFor: readonly string[],
  trustedProxies: readonly string[],
): string {
  const nearest = peer.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  const forwarders = forwardedFor.flatMap((value) => value.split(',').map((hop) => hop.trim()))
  const hops = [...forwarders, nearest]
  const isTrusted = matchesCidrs(trustedProxies)
  const address = hops.findLast((hop) => !isTrusted(hop)) ?? hops[0]!
  return isIP(address) > 0 ? address : nearest
}
