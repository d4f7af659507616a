/** Serves engine.proto, with the standard health and reflection services. */

import { hostname } from 'node:os'
import * as grpc from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import {
  ENGINE_SERVICE,
  engineControlService,
  enginePackage,
  type CancelOutcome,
  type DrainResult,
  type EngineDescription,
  type EngineStats,
  type FetchProgress,
} from '../shared/engine-control.ts'
import { MINUTE_MS } from '../shared/durations.ts'
import { hostAndPort, isEverywhere } from '../shared/local-url.ts'
import type { Tls } from '../shared/process/tls-files.ts'
import { serverCredentials } from '../shared/proto.ts'
import { onPort } from '../shared/process/on-port.ts'
import { inTraceSpan } from '../shared/telemetry/tracing.ts'
import { CallRefusal } from './call-refusal.ts'
import { BATCH_FRAMES } from './compute/batch-budget.ts'
import type { EngineModels } from './engine-models.ts'
import type { ModelFetches } from './installing/model-fetches.ts'

export interface ControlledEngine {
  describe(): EngineDescription
  stats(): EngineStats
  cancel(requestId: string): CancelOutcome
  /** A `deadlineMs` of 0 means the engine's own. */
  drain(deadlineMs: number): Promise<DrainResult>
  setBatching(batchFramesMax: number): void
  models: Pick<EngineModels, 'list' | 'load' | 'unload'>
  fetches: Pick<ModelFetches, 'list' | 'fetch' | 'remove'>
}

export interface ControlServer {
  /** The `host:port` that others reach it at. */
  address: string
  /** Reports NOT_SERVING to health checks from now on. */
  notServing(): void
  stop(): void
}

const INTERVAL_MS = { least: 100, most: MINUTE_MS, usual: 1_000 }

/**
 * Listens on `host:port`; port 0 takes any free port.
 * @throws StartError if the port is taken
 */
export async function startControlServer(
  host: string,
  port: number,
  engine: ControlledEngine,
  tls?: Tls,
): Promise<ControlServer> {
  const server = new grpc.Server()
  const health = new HealthImplementation({ '': 'SERVING', [ENGINE_SERVICE]: 'SERVING' })
  // The status of '' tells supervisors whether to restart the engine; a drained one is still alive.
  const notReady = () => health.setStatus(ENGINE_SERVICE, 'NOT_SERVING')
  const notServing = () => {
    health.setStatus('', 'NOT_SERVING')
    notReady()
  }
  server.addService(engineControlService, handlers(engine, notReady))
  health.addToServer(server)
  new ReflectionService(enginePackage).addToServer(server)
  const credentials = serverCredentials(tls)
  const binding = new Promise<number>((resolve, reject) => {
    server.bindAsync(hostAndPort(host, port), credentials, (error, boundPort) =>
      error ? reject(error) : resolve(boundPort),
    )
  })
  const bound = await onPort({ host, port, prefix: 'CONTROL_' }, binding)
  const address = hostAndPort(isEverywhere(host) ? hostname() : host, bound)
  return { address, notServing, stop: () => server.forceShutdown() }
}

function handlers(
  engine: ControlledEngine,
  notReady: () => void,
): grpc.UntypedServiceImplementation {
  return {
    Describe: unary('Describe', () => engine.describe()),
    WatchStats: (call: grpc.ServerWritableStream<{ interval_ms: number }, EngineStats>) =>
      watchStats(engine, call),
    Cancel: unary('Cancel', ({ request_id }: { request_id: string }) => ({
      outcome: engine.cancel(request_id),
    })),
    Drain: unary('Drain', ({ deadline_ms }: { deadline_ms: number }) => {
      notReady()
      return engine.drain(deadline_ms)
    }),
    SetBatching: unary('SetBatching', ({ batch_frames_max: frames }: BatchSettings) => {
      const { least, most } = BATCH_FRAMES
      if (frames < least || frames > most) {
        const message = `batch_frames_max must be ${least} to ${most}, not ${frames}`
        throw new CallRefusal('INVALID_ARGUMENT', message)
      }
      engine.setBatching(frames)
      return { batch_frames_max: frames }
    }),
    ListModels: unary('ListModels', () => ({ models: engine.models.list() })),
    LoadModel: unary('LoadModel', ({ name }: ModelName) => engine.models.load(name)),
    UnloadModel: unary('UnloadModel', async ({ name }: ModelName) => {
      await engine.models.unload(name)
      return {}
    }),
    ListCatalogue: unary('ListCatalogue', () => ({ models: engine.fetches.list() })),
    FetchModel: (call: FetchCall) => {
      followFetch(engine, call).catch((error: Error) => call.emit('error', statusOf(error)))
    },
    RemoveModel: unary('RemoveModel', async ({ name }: ModelName) => {
      await engine.fetches.remove(name)
      return {}
    }),
  }
}

interface BatchSettings {
  batch_frames_max: number
}

interface ModelName {
  name: string
}

/** Answers a call with what `work` returns, or with the status of the error that it throws. */
const unary =
  <Request, Reply>(
    method: string,
    work: (request: Request) => Reply | Promise<Reply>,
  ): grpc.handleUnaryCall<Request, Reply> =>
  (call, reply) => {
    inCallSpan(method, call, async () => work(call.request)).then(
      (value) => reply(null, value),
      (error: Error) => reply(statusOf(error)),
    )
  }

/** Runs `work` in a span if the call has a trace context. */
function inCallSpan<T>(
  method: string,
  { metadata }: { metadata: grpc.Metadata },
  work: () => Promise<T>,
): Promise<T> {
  const [from] = metadata.get('traceparent')
  if (typeof from !== 'string') return work()
  return inTraceSpan(`${ENGINE_SERVICE}/${method}`, { kind: 'server', from }, work)
}

/**
 * Marks the start of a stream in the caller's trace. A span around the stream would last as long as
 * it does.
 */
const traceStart = (method: string, call: { metadata: grpc.Metadata }): void =>
  void inCallSpan(method, call, async () => undefined)

function statusOf(error: Error): Pick<grpc.ServiceError, 'code' | 'details'> {
  const status = error instanceof CallRefusal ? error.status : 'INTERNAL'
  return { code: grpc.status[status], details: error.message }
}

function watchStats(
  engine: ControlledEngine,
  call: grpc.ServerWritableStream<{ interval_ms: number }, EngineStats>,
): void {
  traceStart('WatchStats', call)
  const requestedMs = call.request.interval_ms || INTERVAL_MS.usual
  const intervalMs = Math.min(Math.max(requestedMs, INTERVAL_MS.least), INTERVAL_MS.most)
  call.write(engine.stats())
  const timer = setInterval(() => {
    if (!call.writableNeedDrain) call.write(engine.stats()) // a slow reader skips some
  }, intervalMs)
  call.on('cancelled', () => clearInterval(timer))
}

type FetchCall = grpc.ServerWritableStream<
  { name: string; licence_accepted: boolean },
  FetchProgress
>

/** Reports the progress of a fetch until its end, or until the caller leaves. */
async function followFetch(engine: ControlledEngine, call: FetchCall): Promise<void> {
  traceStart('FetchModel', call)
  const { name, licence_accepted: licenceAccepted } = call.request
  const fetch = await engine.fetches.fetch(name, licenceAccepted)
  if (call.cancelled) return
  const tell = (progress: FetchProgress) => {
    const isLast = progress.state === 'INSTALLED' || progress.state === 'FAILED'
    if (isLast || !call.writableNeedDrain) call.write(progress) // a slow reader skips some
    if (isLast) call.end()
  }
  if (fetch) call.on('cancelled', fetch.follow(tell))
  else tell({ state: 'INSTALLED', bytes: 0, bytes_total: 0, problem: '' })
}
