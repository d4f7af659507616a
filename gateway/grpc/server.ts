/**
 * Serves separation.proto to internal services, with the standard health and reflection services.
 * It translates calls into those of `gateway/requests/`, as the HTTP routes do.
 */

import { once, type EventEmitter } from 'node:events'
import * as grpc from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import { MINUTE_MS } from '../../shared/durations.ts'
import type { Tls } from '../../shared/process/tls-files.ts'
import { loadProto, serverCredentials } from '../../shared/proto.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { inTraceSpan } from '../../shared/telemetry/tracing.ts'
import { assertScope, authenticate, type AuthDeps, type Scope } from '../accounts/auth.ts'
import { callerOf, callIdOf, grpcClientAddress, logFailure } from '../api/call-log.ts'
import { grpcStatus, toServiceError } from './errors.ts'
import { adopt, bind } from './listen.ts'
import {
  listQuery,
  listReply,
  separationOf,
  submitReply,
  submitBody,
  type DeleteFileRequest,
  type GetRequest,
  type ListReply,
  type ListRequest,
  type RequestIdMessage,
  type Separation,
  type SeparateReply,
  type SeparateRequest,
  type SubmitReply,
  type SubmitRequest,
  type WatchRequest,
} from './messages.ts'
import { readSeparate } from './separate-stream.ts'
import { intervalMsOf, limitOf } from '../api/pagination.ts'
import { assertAllowed, type RateLimiter } from '../accounts/rate-limit.ts'
import type { QueueStatusResponse, QueueSubmitResponse } from '../api/schemas.ts'
import { listFiltersOf } from '../api/list-filters.ts'
import { findOwnFile, removeFile } from '../files/removal.ts'
import {
  cancelRequest,
  findOwn,
  hasResult,
  list,
  remove,
  resultOf,
  statusOf,
  type RemoveDeps,
  type ResultDeps,
  type StatusDeps,
} from '../requests/own-requests.ts'
import { separate, unlessAtFault, type SeparateDeps } from '../requests/separate.ts'
import { watchStatus } from '../requests/follow/status-watch.ts'
import { readLogs } from '../store/request-logs.ts'
import type { KeyWithAccount } from '../store/api-keys.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import { clientGoneError, submit } from '../requests/submit/submit.ts'
import { BODY_BYTES_MAX } from '../api/validation.ts'
import type { Settings } from '../config.ts'

export interface GrpcServer {
  /** `host:port` that it listens on. */
  address: string
  /** Sets health to NOT_SERVING. Resolves when the open calls have ended or were canceled. */
  stop(): Promise<void>
}

export const SEPARATION_SERVICE = 'winnow.separation.v1.SeparationService'
export const separationPackage = loadProto('separation.proto')

/** Every RPC but DeleteFile needs this scope. */
const SCOPE: Scope = 'audio:separate'
/** Time for open calls to end at shutdown; then they are canceled. */
const CLOSE_MS_MAX = 3_000
/** Longer than any check at submit may take. */
const CALL_MS_MAX = MINUTE_MS
const OPTIONS: grpc.ServerOptions = {
  'grpc.max_receive_message_length': BODY_BYTES_MAX, // Node limits metadata to 64 KiB
  'grpc.max_concurrent_streams': 1_000, // per connection
  'grpc.max_connection_idle_ms': 300_000,
  'grpc.keepalive_time_ms': MINUTE_MS, // closes the watches of lost clients
  'grpc.keepalive_timeout_ms': 20_000,
}

/** Dependencies of the calls, and those that count and limit them. */
export type GrpcDeps = AuthDeps &
  SeparateDeps &
  StatusDeps &
  ResultDeps &
  RemoveDeps & {
    rateLimiter: Pick<RateLimiter, 'count'>
    metrics: { grpcAnswered(call: { method: string; status: string; ms: number }): void }
    config: Settings<'trustedProxies'>
  }

interface GrpcOptions {
  callMsMax?: number
  fd?: number | undefined
  tls?: Tls | undefined
}

/**
 * Listens on `host:port`; port 0 takes any free one. With `fd`, listens on that open socket
 * instead.
 * @throws StartError when the port is taken
 */
export async function startGrpcServer(
  host: string,
  port: number,
  deps: GrpcDeps,
  { callMsMax = CALL_MS_MAX, fd, tls }: GrpcOptions = {},
): Promise<GrpcServer> {
  const server = new grpc.Server({ ...OPTIONS, interceptors: [deadline(callMsMax)] })
  const health = new HealthImplementation({ '': 'SERVING', [SEPARATION_SERVICE]: 'SERVING' })
  server.addService(separationPackage[SEPARATION_SERVICE] as grpc.ServiceDefinition, handlers(deps))
  health.addToServer(server)
  new ReflectionService(separationPackage).addToServer(server)
  const credentials = serverCredentials(tls)
  const { address, close } = await (fd === undefined
    ? bind(server, { host, port, credentials })
    : adopt(server, fd, credentials))
  return {
    address,
    async stop() {
      close()
      health.setStatus('', 'NOT_SERVING')
      health.setStatus(SEPARATION_SERVICE, 'NOT_SERVING')
      const cut = setTimeout(() => server.forceShutdown(), CLOSE_MS_MAX)
      await new Promise((resolve) => server.tryShutdown(resolve))
      clearTimeout(cut)
    },
  }
}

/**
 * Ends a unary call that takes longer, whatever deadline its client has set, and any call whose
 * message is incomplete by then. Only a stream of responses may continue, once its request is
 * complete. Calls that stream their request have a deadline of their own (separate-stream.ts).
 */
const deadline =
  (callMsMax: number): grpc.ServerInterceptor =>
  (method, call) => {
    if (method.requestStream) return new grpc.ServerInterceptingCall(call)
    const timer = setTimeout(() => call.sendStatus(TOO_LATE), callMsMax)
    const stop = () => clearTimeout(timer)
    return new grpc.ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveHalfClose(next) {
            if (method.responseStream) stop()
            next()
          },
          onCancel: stop,
        }),
      sendStatus(status, next) {
        stop()
        next(status)
      },
    })
  }

const TOO_LATE = {
  code: grpc.status.DEADLINE_EXCEEDED,
  details: 'The call took too long; retry it.',
}

const handlers = (deps: GrpcDeps): grpc.UntypedServiceImplementation => ({
  Submit: withOneReply(deps, async (key, call: SubmitCall): Promise<SubmitReply> => {
    const { answer } = await submit(deps, key, {
      ...submitBody(call.request),
      idempotencyKey: textOf(call.metadata, 'idempotency-key'),
      signal: hangUpOf(call),
    })
    return submitReply(JSON.parse(answer) as QueueSubmitResponse)
  }),
  Separate: withOneReply(deps, async (key, call: SeparateCall): Promise<SeparateReply> => {
    const signal = hangUpOf(call)
    const { bodySecondsMax: secondsMax } = deps.config
    const { answer, ended } = await separate(deps, key, {
      ...(await readSeparate(call, { secondsMax, signal })),
      idempotencyKey: textOf(call.metadata, 'idempotency-key'),
      signal,
    })
    const submitted = submitReply(JSON.parse(answer) as QueueSubmitResponse)
    return ended ? { submitted, separation: await endedSeparation(deps, ended) } : { submitted }
  }),
  Get: unary(deps, async (accountId, request: GetRequest): Promise<Separation> => {
    const row = await findOwn(deps, accountId, request.request_id)
    const logs = request.logs ? await readLogs(deps.store, row.request_id) : undefined
    return separationWithResult(deps, row, await statusOf(deps, row, logs))
  }),
  Cancel: unary(deps, async (accountId, request: RequestIdMessage): Promise<Separation> => {
    const row = await findOwn(deps, accountId, request.request_id)
    return separationOf(await statusOf(deps, await cancelRequest(deps, row)))
  }),
  Delete: unary(deps, async (accountId, request: RequestIdMessage): Promise<object> => {
    await remove(deps, await findOwn(deps, accountId, request.request_id))
    return {}
  }),
  DeleteFile: unary(
    deps,
    async (accountId, request: DeleteFileRequest): Promise<object> => {
      await removeFile(deps, await findOwnFile(deps, accountId, request.file_id))
      return {}
    },
    'files:write',
  ),
  List: unary(deps, async (accountId, request: ListRequest): Promise<ListReply> => {
    const { page_size: size, page_token: cursor } = request
    const filters = listFiltersOf(listQuery(request))
    return listReply(await list(deps, accountId, { ...filters, limit: limitOf(size), cursor }))
  }),
  Watch: (call: WatchCall): void => {
    answer(deps, call, SCOPE, (key) => watch(deps, key, call)).then(
      (isWhole) => (isWhole ? call.end() : call.emit('error', STOPPING)),
      (status: grpc.StatusObject) => call.emit('error', status),
    )
  },
})

function unary<Request, Reply>(
  deps: GrpcDeps,
  handle: (accountId: string, request: Request) => Promise<Reply>,
  scope: Scope = SCOPE,
): grpc.handleUnaryCall<Request, Reply> {
  return withOneReply<grpc.ServerUnaryCall<Request, Reply>, Reply>(
    deps,
    (key, call) => handle(key.account_id, call.request),
    scope,
  )
}

function withOneReply<Call extends RequestCall, Reply>(
  deps: GrpcDeps,
  handle: (key: KeyWithAccount, call: Call) => Promise<Reply>,
  scope: Scope = SCOPE,
) {
  return (call: Call, reply: grpc.sendUnaryData<Reply>): void => {
    const from = textOf(call.metadata, 'traceparent') ?? null
    const options = { kind: 'server', from } as const
    answer(deps, call, scope, (key) =>
      inTraceSpan(call.getPath().slice(1), options, () => handle(key, call)),
    ).then(
      (message) => reply(null, message),
      (status: grpc.StatusObject) => reply(status),
    )
  }
}

/** Returns a signal that aborts when the client no longer waits for the answer. */
function hangUpOf(call: RequestCall): AbortSignal {
  const gone = new AbortController()
  const hangUp = () => gone.abort(clientGoneError())
  if (call.cancelled) hangUp()
  else (call as EventEmitter).once('cancelled', hangUp)
  return gone.signal
}

/** Returns a request that has ended; undefined if it cannot be read now. */
const endedSeparation = (deps: GrpcDeps, row: RequestRow): Promise<Separation | undefined> =>
  unlessAtFault(deps.log, row.request_id, async () =>
    separationWithResult(deps, row, await statusOf(deps, row)),
  )

async function separationWithResult(
  deps: ResultDeps,
  row: RequestRow,
  status: QueueStatusResponse,
): Promise<Separation> {
  const isThere = hasResult(row, deps.clock.now())
  return separationOf(status, isThere ? await resultOf(deps, row) : undefined)
}

type WatchCall = grpc.ServerWritableStream<WatchRequest, Separation>
type SubmitCall = grpc.ServerUnaryCall<SubmitRequest, SubmitReply>
type SeparateCall = grpc.ServerReadableStream<SeparateRequest, SeparateReply>
type RequestCall =
  | grpc.ServerUnaryCall<any, any>
  | grpc.ServerReadableStream<any, any>
  | grpc.ServerWritableStream<any, any>

const STOPPING = { code: grpc.status.UNAVAILABLE, details: 'The gateway is stopping; watch again.' }

/**
 * Writes the states of the request. Returns false if the gateway stops before it is finished.
 * @throws ServiceError `NOT_FOUND`; `UNAUTHENTICATED` once the key is no longer valid
 */
async function watch(deps: GrpcDeps, key: KeyWithAccount, call: WatchCall): Promise<boolean> {
  const { request_id: requestId, logs, interval_seconds: interval } = call.request
  const gone = new AbortController()
  const feed = deps.feed.watch(requestId, key.account_id, key)
  call.once('close', () => {
    // canceled, or past its deadline
    gone.abort()
    feed.close()
  })
  const steps = watchStatus(deps, feed, {
    key,
    requestId,
    logs,
    intervalMs: intervalMsOf(interval),
    windowMs: Infinity,
  })
  for await (const { row, logs } of steps) {
    if (call.destroyed) return true
    const status = await statusOf(deps, row, logs)
    const hasRoom = call.write(await separationWithResult(deps, row, status))
    if (isTerminal(row.status)) return true
    if (!hasRoom) await once(call, 'drain', gone).catch(() => undefined)
  }
  return call.destroyed
}

/**
 * Runs `handle` with the caller's key, if that has the scope, and logs the call.
 * @throws StatusObject for the client
 */
async function answer<Answer>(
  deps: GrpcDeps,
  call: RequestCall,
  scope: Scope,
  handle: (key: KeyWithAccount) => Promise<Answer>,
): Promise<Answer> {
  const startedAt = performance.now()
  const { log, metrics } = deps
  const id = callIdOf(textOf(call.metadata, 'x-request-id'), 'grpc')
  const forwardedFor = call.metadata.get('x-forwarded-for').map(String)
  const client = grpcClientAddress(call.getPeer(), forwardedFor, deps.config.trustedProxies)
  let caller: Partial<ReturnType<typeof callerOf>> = {}
  const noteAnswered = (code: grpc.status) => {
    const answered = {
      method: call.getPath(),
      status: grpc.status[code],
      ms: Math.round(performance.now() - startedAt),
    }
    log.info({ callId: id, ...answered, ...caller, client }, 'answered a call')
    metrics.grpcAnswered(answered)
  }
  try {
    const head = new grpc.Metadata()
    head.set('x-request-id', id)
    call.sendMetadata(head)
    const authorization = textOf(call.metadata, 'authorization')
    const key = await authenticate(deps, authorization)
    caller = callerOf(key)
    assertScope(key, scope)
    assertAllowed(await deps.rateLimiter.count(key.key_id, key))
    const reply = await handle(key)
    noteAnswered(call.cancelled ? grpc.status.CANCELLED : grpc.status.OK)
    return reply
  } catch (error) {
    const failure = toServiceError(error)
    logFailure(log, failure, { error, callId: id })
    const { request_id: requestId } = Object('request' in call && call.request) as {
      request_id?: string
    }
    const status = grpcStatus(failure, failure.code === 'NOT_FOUND' ? undefined : requestId)
    noteAnswered(status.code)
    throw status
  }
}

const textOf = (metadata: grpc.Metadata, name: string): string | undefined =>
  metadata.get(name)[0]?.toString()
