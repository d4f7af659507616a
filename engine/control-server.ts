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
  type CatalogueModel,
  type DescribedModel,
  type EngineDescription,
  type EngineStats,
  type FetchProgress,
  type InstalledModel,
} from '../shared/engine-control.ts'
import { MINUTE_MS } from '../shared/durations.ts'
import { hostAndPort, isEverywhere } from '../shared/local-url.ts'
import type { Tls } from '../shared/process/tls-files.ts'
import { serverCredentials } from '../shared/proto.ts'
import { onPort } from '../shared/process/on-port.ts'
import { beginTraceSpan, type TraceSpan } from '../shared/telemetry/tracing.ts'
import { BATCH_FRAMES } from './compute/batch-budget.ts'
import { ModelRefusal } from './model-refusal.ts'

export interface ControlledEngine {
  describe(): EngineDescription
  stats(): EngineStats
  cancel(requestId: string): CancelOutcome
  /** A `deadlineMs` of 0 means the engine's own. */
  drain(deadlineMs: number): Promise<{ finished: number; released: number }>
  setBatching(batchFramesMax: number): void
  /** Models that the engine holds or could load, in order of preference. */
  listModels(): InstalledModel[]
  /** Resolves once the model is loaded. @throws ModelRefusal */
  loadModel(name: string): Promise<DescribedModel>
  /** Resolves once the model is unloaded. @throws ModelRefusal */
  unloadModel(name: string): Promise<void>
  /** Models that could be fetched. */
  listCatalogue(): CatalogueModel[]
  /** Starts to fetch a model, or joins its fetch; null if it is installed. @throws ModelRefusal */
  fetchModel(name: string, licenceAccepted: boolean): Promise<EngineFetch | null>
  /** Resolves once the model is removed. @throws ModelRefusal */
  removeModel(name: string): Promise<void>
}

/** A fetch in progress. */
interface EngineFetch {
  /** Calls `onProgress` at once and after each change; returns a function that stops following. */
  follow(onProgress: (progress: FetchProgress) => void): () => void
}

export interface ControlServer {
  /** The `host:port` that others reach it at. */
  address: string
  /** Reports NOT_SERVING to health checks from now on. */
  notServing(): void
  stop(): void
}

const INTERVAL_MS = { least: 100, most: MINUTE_MS, usual: 1_000 }

/** Listens on `host:port`; port 0 takes any free port. @throws StartError if the port is taken */
export async function startControlServer(
  host: string,
  port: number,
  engine: ControlledEngine,
  tls?: Tls,
): Promise<ControlServer> {
  const server = new grpc.Server()
  const health = new HealthImplementation({ '': 'SERVING', [ENGINE_SERVICE]: 'SERVING' })
  // A drained engine is alive until it is stopped: '' is what supervisors restart engines by.
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
    Describe: withTraceSpan<object, EngineDescription>('Describe', (_call, reply) =>
      reply(null, engine.describe()),
    ),
    Cancel: withTraceSpan<{ request_id: string }, { outcome: CancelOutcome }>(
      'Cancel',
      (call, reply) => reply(null, { outcome: engine.cancel(call.request.request_id) }),
    ),
    Drain: withTraceSpan<{ deadline_ms: number }, DrainResult>('Drain', (call, reply) => {
      notReady()
      answer(reply, engine.drain(call.request.deadline_ms))
    }),
    ...modelHandlers(engine),
    ...fetchHandlers(engine),
    SetBatching: withTraceSpan<Batching, Batching>('SetBatching', (call, reply) => {
      const { batch_frames_max: frames } = call.request
      const { least, most } = BATCH_FRAMES
      if (frames < least || frames > most) {
        const details = `batch_frames_max must be ${least} to ${most}, not ${frames}`
        reply({ code: grpc.status.INVALID_ARGUMENT, details })
        return
      }
      engine.setBatching(frames)
      reply(null, { batch_frames_max: frames })
    }),
    WatchStats: (call: grpc.ServerWritableStream<{ interval_ms: number }, EngineStats>) => {
      const asked = call.request.interval_ms || INTERVAL_MS.usual
      const intervalMs = Math.min(Math.max(asked, INTERVAL_MS.least), INTERVAL_MS.most)
      spanOf('WatchStats', call)?.end() // the span must not last as long as the stream
      call.write(engine.stats())
      const timer = setInterval(() => {
        if (!call.writableNeedDrain) call.write(engine.stats()) // a slow reader skips some
      }, intervalMs)
      call.on('cancelled', () => clearInterval(timer))
    },
  }
}

const modelHandlers = (engine: ControlledEngine): grpc.UntypedServiceImplementation => ({
  ListModels: withTraceSpan<object, { models: InstalledModel[] }>('ListModels', (_call, reply) =>
    answer(
      reply,
      Promise.resolve().then(() => ({ models: engine.listModels() })), // a record may be damaged
    ),
  ),
  LoadModel: withTraceSpan<{ name: string }, DescribedModel>('LoadModel', (call, reply) =>
    answer(reply, engine.loadModel(call.request.name)),
  ),
  UnloadModel: withTraceSpan<{ name: string }, object>('UnloadModel', (call, reply) =>
    answer(
      reply,
      engine.unloadModel(call.request.name).then(() => ({})),
    ),
  ),
})

const fetchHandlers = (engine: ControlledEngine): grpc.UntypedServiceImplementation => ({
  ListCatalogue: withTraceSpan<object, { models: CatalogueModel[] }>(
    'ListCatalogue',
    (_call, reply) => reply(null, { models: engine.listCatalogue() }),
  ),
  FetchModel: (call: FetchCall) => {
    spanOf('FetchModel', call)?.end() // the span must not last as long as the stream
    followFetch(engine, call).catch((error: Error) => call.emit('error', statusOf(error)))
  },
  RemoveModel: withTraceSpan<{ name: string }, object>('RemoveModel', (call, reply) =>
    answer(
      reply,
      engine.removeModel(call.request.name).then(() => ({})),
    ),
  ),
})

type FetchCall = grpc.ServerWritableStream<
  { name: string; licence_accepted: boolean },
  FetchProgress
>

/** Reports the progress of a fetch until its end, or until the caller leaves. */
async function followFetch(engine: ControlledEngine, call: FetchCall): Promise<void> {
  const { name, licence_accepted: licenceAccepted } = call.request
  const fetch = await engine.fetchModel(name, licenceAccepted)
  if (call.cancelled) return
  const tell = (progress: FetchProgress) => {
    const isLast = progress.state === 'INSTALLED' || progress.state === 'FAILED'
    if (isLast || !call.writableNeedDrain) call.write(progress) // a slow reader skips some
    if (isLast) call.end()
  }
  if (fetch) call.on('cancelled', fetch.follow(tell))
  else tell({ state: 'INSTALLED', bytes: 0, bytes_total: 0, problem: '' })
}

/** Replies with the result of `work`; a refusal has a status of its own. */
function answer<Reply>(reply: grpc.sendUnaryData<Reply>, work: Promise<Reply>): void {
  work.then(
    (value) => reply(null, value),
    (error: Error) => reply(statusOf(error)),
  )
}

function statusOf(error: Error): Pick<grpc.ServiceError, 'code' | 'details'> {
  const status = error instanceof ModelRefusal ? error.status : 'INTERNAL'
  return { code: grpc.status[status], details: error.message }
}

interface DrainResult {
  finished: number
  released: number
}

interface Batching {
  batch_frames_max: number
}

/** Records a call with a trace context as a span, until its reply. */
const withTraceSpan =
  <Request, Reply>(
    method: string,
    handle: grpc.handleUnaryCall<Request, Reply>,
  ): grpc.handleUnaryCall<Request, Reply> =>
  (call, reply) => {
    const span = spanOf(method, call)
    if (!span) return handle(call, reply)
    span.run(() =>
      handle(call, (error, ...value) => {
        span.end(error ?? undefined)
        reply(error, ...value)
      }),
    )
  }

function spanOf(method: string, { metadata }: { metadata: grpc.Metadata }): TraceSpan | null {
  const [from] = metadata.get('traceparent')
  if (typeof from !== 'string') return null
  return beginTraceSpan(`${ENGINE_SERVICE}/${method}`, { kind: 'server', from })
}
