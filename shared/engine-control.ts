/** engine.proto in TypeScript: its service definition, and a typed client with deadlines. */

import * as grpc from '@grpc/grpc-js'
import { MINUTE_MS } from './durations.ts'
import type { Tls } from './process/tls-files.ts'
import { channelCredentials, loadProto } from './proto.ts'
import type { RoutedModel } from './prompts/route-prompt.ts'
import { currentTraceParent, inTraceSpan } from './telemetry/tracing.ts'

export interface DescribedModel extends RoutedModel {
  summary: string
  parameters: number
  weights_sha256: string
  sample_rate: number
  channels_max: number
  chunk_seconds_max: number
  gives_candidates: boolean
  predicts_spans: boolean
  precision: string
  /** Sounds that a model for text knows; absent or empty if it has no such list. */
  names?: string[]
  /** The licence of the weights, as far as known; absent or empty if unknown. */
  licence?: string
}

export interface EngineDescription {
  engine_id: string
  version: string
  /** The first of `models` that answers text, or the first if none does. */
  model: DescribedModel
  /** In order of preference. */
  models: DescribedModel[]
  backend: string
  device: string
  started_at_ms: number
  jobs_max: number
  batch_frames_max: number
}

export type EngineState = 'READY' | 'BUSY' | 'DRAINING' | 'PAUSED'

export interface EngineStats {
  state: EngineState
  jobs: number
  lanes: number
  steps_total: number
  lane_steps_total: number
  frames_total: number
  busy_seconds_total: number
  audio_seconds_total: number
  memory_bytes: number
  batch_frames_max: number
  /** Increases with each change of the models that the engine describes. */
  models_version: number
}

export type ModelState = 'NOT_LOADED' | 'LOADING' | 'LOADED' | 'UNLOADING'

/** A model that an engine has, or could load. */
export interface InstalledModel {
  name: string
  /** The kind of network; for built-in models, the model's name. */
  kind: string
  /** Whether it came with Winnow or its set-up, so it cannot be unloaded. */
  built_in: boolean
  state: ModelState
  /** A sentence on why it is not loaded; empty if nothing went wrong. */
  problem: string
  /** Total size of its weight files; 0 if unknown. */
  bytes: number
  /** What is known about the licence of its weights, in sentences; empty if nothing is. */
  licence: string
}

export interface FetchProgress {
  state: 'WAITING' | 'DOWNLOADING' | 'CONVERTING' | 'INSTALLED' | 'FAILED'
  /** Bytes downloaded so far. */
  bytes: number
  /** Total bytes to download, as far as known. */
  bytes_total: number
  /** A sentence on why it failed or what it waits for; otherwise empty. */
  problem: string
}

/** A model that an engine knows and, unless it is built in, can fetch. */
export interface CatalogueModel {
  name: string
  kind: string
  /** One sentence. */
  summary: string
  megabytes: number
  /** What is known about the licence of the weights, in sentences. */
  licence: string
  /** The licence in a word or two. */
  licence_word: string
  licence_url: string
  /** Whether the licence must be accepted. */
  licence_question: boolean
  /** Address of its first file. */
  source: string
  /** Its last fetch since the engine started; null if that installed it or there was none. */
  fetch: FetchProgress | null
  built_in: boolean
}

/** A fetch that an engine has started or joined; it stops once nobody follows it any more. */
interface FetchInProgress {
  /**
   * Resolves with the final state.
   * @throws Error if the engine goes away first
   */
  ended: Promise<FetchProgress>
  leave(): void
}

export type CancelOutcome = 'STOPPED' | 'NOT_FOUND'

/** How many jobs ended while an engine drained, and how many went back to the queue. */
export interface DrainResult {
  finished: number
  released: number
}

/** The name under which the standard health service reports whether the engine takes jobs. */
export const ENGINE_SERVICE = 'winnow.engine.v1.EngineControl'

export const enginePackage = loadProto('engine.proto')

export const engineControlService = enginePackage[ENGINE_SERVICE] as grpc.ServiceDefinition

const CALL_DEADLINE_MS = 2_000
/**
 * How long a caller waits for a model to be loaded, unloaded or removed; the work continues without
 * the caller.
 */
const MODEL_DEADLINE_MS = 10 * MINUTE_MS

export type EngineClient = ReturnType<typeof connectEngine>

interface EngineTls {
  tls?: Tls | undefined
  /** The name in the engine's certificate, where the address has another. */
  name?: string
}

/**
 * Returns a client of the engine at `address` (`host:port`). Calls reject with a gRPC error if the
 * engine does not answer within two seconds, or within the time that the call states. A call made
 * within a trace becomes part of it.
 */
export function connectEngine(address: string, { tls, name: certificateName }: EngineTls = {}) {
  const Client = grpc.makeGenericClientConstructor(engineControlService, 'EngineControl')
  const client = new Client(address, channelCredentials(tls), {
    ...(tls && certificateName && { 'grpc.ssl_target_name_override': certificateName }),
  })
  const call = <Reply>(method: string, request: object, deadlineMs = CALL_DEADLINE_MS) =>
    runTraced(
      method,
      (metadata) =>
        new Promise<Reply>((resolve, reject) => {
          const options = { deadline: Date.now() + deadlineMs }
          const done = (error: grpc.ServiceError | null, reply: Reply) =>
            error ? reject(error) : resolve(reply)
          client[method]!(request, metadata, options, done)
        }),
    )
  return {
    describe: () => call<EngineDescription>('Describe', {}),
    stats: () => runTraced('WatchStats', (metadata) => firstStats(client, metadata)),
    async cancel(requestId: string) {
      const reply = await call<{ outcome: CancelOutcome }>('Cancel', { request_id: requestId })
      return reply.outcome
    },
    /** Resolves when no job is open any more, at the latest one second after `deadlineMs`. */
    drain: (deadlineMs: number) =>
      call<DrainResult>('Drain', { deadline_ms: deadlineMs }, deadlineMs + 1_000),
    /** Sets the frame budget of a batch and resolves with it. */
    async setBatching(batchFramesMax: number) {
      const batching = { batch_frames_max: batchFramesMax }
      return (await call<typeof batching>('SetBatching', batching)).batch_frames_max
    },
    /** Returns the models that it has or could load, in order of preference. */
    async listModels() {
      return (await call<{ models: InstalledModel[] }>('ListModels', {})).models
    },
    loadModel: (name: string) => call<DescribedModel>('LoadModel', { name }, MODEL_DEADLINE_MS),
    async unloadModel(name: string) {
      await call('UnloadModel', { name }, MODEL_DEADLINE_MS)
    },
    async listCatalogue() {
      return (await call<{ models: CatalogueModel[] }>('ListCatalogue', {})).models
    },
    /** Resolves once the engine has started to fetch the model, or has joined a running fetch. */
    fetchModel: (name: string, licenceAccepted: boolean) =>
      runTraced('FetchModel', (metadata) =>
        followFetch(client, metadata, { name, licence_accepted: licenceAccepted }),
      ),
    async removeModel(name: string) {
      await call('RemoveModel', { name }, MODEL_DEADLINE_MS)
    },
    /** Calls `onStats` at once and then every `intervalMs`, until the result is called. */
    watchStats(intervalMs: number, onStats: (stats: EngineStats) => void) {
      const stream = openStream<EngineStats>(client, 'WatchStats', { interval_ms: intervalMs })
      stream.on('data', onStats)
      stream.on('error', () => stream.cancel())
      return () => stream.cancel()
    },
    close: () => client.close(),
  }
}

/** Why an engine has not done what it was asked to do. */
interface EngineProblem {
  /** `away`: nobody knows; `old`: its version can't do it. */
  kind: 'not found' | 'refused' | 'old' | 'away'
  message: string
}

/** @param error the error with which a call of an `EngineClient` rejects */
export function engineProblem(error: unknown): EngineProblem {
  const { code, details, message } = error as Partial<grpc.ServiceError>
  const said = details || message || String(error)
  if (code === grpc.status.NOT_FOUND) return { kind: 'not found', message: said }
  if (code === grpc.status.FAILED_PRECONDITION) return { kind: 'refused', message: said }
  if (code === grpc.status.UNIMPLEMENTED) {
    return { kind: 'old', message: 'Its version has no such call: upgrade it.' }
  }
  return { kind: 'away', message: said }
}

/**
 * Runs `work` in a span of the active trace, with metadata that passes the trace on. Without an
 * active trace, just runs it.
 */
function runTraced<T>(method: string, work: (metadata: grpc.Metadata) => Promise<T>): Promise<T> {
  const metadata = new grpc.Metadata()
  if (currentTraceParent() === null) return work(metadata)
  return inTraceSpan(`${ENGINE_SERVICE}/${method}`, { kind: 'client' }, (span) => {
    if (span.traceParent !== null) metadata.set('traceparent', span.traceParent)
    return work(metadata)
  })
}

type ServiceClient = InstanceType<grpc.ServiceClientConstructor>

const openStream = <Message>(
  client: ServiceClient,
  method: string,
  request: object,
  metadata = new grpc.Metadata(),
  options: grpc.CallOptions = {},
): grpc.ClientReadableStream<Message> => client[method]!(request, metadata, options)

/** Returns the first message of the statistics stream, which is sent at once. */
function firstStats(client: ServiceClient, metadata: grpc.Metadata): Promise<EngineStats> {
  const options = { deadline: Date.now() + CALL_DEADLINE_MS }
  const stream = openStream<EngineStats>(client, 'WatchStats', {}, metadata, options)
  return new Promise((resolve, reject) => {
    stream.on('data', (stats: EngineStats) => {
      resolve(stats)
      stream.cancel()
    })
    stream.on('error', reject) // after the first message, of our own cancel
  })
}

/** Resolves with the first message; the stream stays open as long as the fetch runs. */
function followFetch(
  client: ServiceClient,
  metadata: grpc.Metadata,
  request: { name: string; licence_accepted: boolean },
): Promise<FetchInProgress> {
  const stream = openStream<FetchProgress>(client, 'FetchModel', request, metadata)
  return new Promise((resolve, reject) => {
    let last: FetchProgress
    const ended = new Promise<FetchProgress>((resolveEnd, rejectEnd) => {
      stream.on('end', () => resolveEnd(last))
      stream.on('error', rejectEnd)
    })
    stream.on('data', (progress: FetchProgress) => {
      last = progress
      resolve({ ended, leave: () => stream.cancel() })
    })
    ended.then(() => reject(new Error('the engine reported nothing about the fetch')), reject)
  })
}
