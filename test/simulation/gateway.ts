/** One gateway of a simulated run, wired as `gateway/main.ts` does it: without sockets alone. */

import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import { MINUTE_MS } from '../../shared/durations.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { KeyChecks } from '../../gateway/accounts/key-checks.ts'
import { KeyUses } from '../../gateway/accounts/key-uses.ts'
import { RateLimiter } from '../../gateway/accounts/rate-limit.ts'
import type { AppConfig, Deps } from '../../gateway/deps.ts'
import { PendingUploads } from '../../gateway/files/pending-uploads.ts'
import { createSweeper } from '../../gateway/files/sweeper.ts'
import type { LocalDisk } from '../../gateway/media-store/media-store.ts'
import { EngineRegistry, type EngineClient } from '../../gateway/operations/engine-registry.ts'
import { Metrics } from '../../gateway/operations/metrics.ts'
import { createDeadLetterHandler } from '../../gateway/requests/dead-letters.ts'
import { createEventHandler } from '../../gateway/requests/event-follower.ts'
import { createJobPublisher } from '../../gateway/requests/job-publisher.ts'
import { QueueOutlook } from '../../gateway/requests/queue-outlook.ts'
import { RequestFeed } from '../../gateway/requests/request-feed.ts'
import { createRescuer } from '../../gateway/requests/rescuer.ts'
import { cancelRoute } from '../../gateway/routes/cancel.ts'
import { createFileRoute } from '../../gateway/routes/create-file.ts'
import { mediaRoutes } from '../../gateway/routes/media.ts'
import { redeliverRoute } from '../../gateway/routes/redeliver.ts'
import { resultRoute } from '../../gateway/routes/result.ts'
import { statusRoute } from '../../gateway/routes/status.ts'
import { submitRoute } from '../../gateway/routes/submit.ts'
import { uploadRoutes } from '../../gateway/routes/uploads.ts'
import type { Store } from '../../gateway/store/database.ts'
import type { PublicPost } from '../../gateway/webhooks/public-post.ts'
import { WebhookSender } from '../../gateway/webhooks/sender.ts'
import { TESTS_PER_MINUTE, WebhookTester } from '../../gateway/webhooks/tester.ts'
import type { Broker } from '../../shared/broker/interface.ts'

const RESCUE_AFTER_MS = MINUTE_MS
const SWEEP_AFTER_MS = 10_000

const RETENTION = { uploadMinutes: 60, fileHours: 24, outputDays: 7, recordDays: 30 }

const CONFIG: AppConfig = {
  ...RETENTION,
  encryptionKeys: [Buffer.alloc(32, 1).toString('base64url')],
  publicUrl: () => 'http://winnow.test',
  playground: 'off',
  playgroundFolder: 'no-folder',
  docsFolder: 'no-folder',
  mediaOrigins: [],
  corsOrigins: [],
  bodySecondsMax: 30,
  connectionsMax: 1_000,
  trustedProxies: [],
  filesMaxPerAccount: 1_000,
  mediaBytesMaxPerAccount: 1e12,
  streamWindowSeconds: 600,
  queueMax: 10_000,
  queueMaxPerAccount: 0,
  mediaSecondsMax: 7_200,
}

/** Counters only; one for all runs, for it is slow to make. */
const metrics = new Metrics()

export interface GatewayParts {
  store: Store
  broker: Broker
  mediaStore: LocalDisk
  post: PublicPost['post']
  connectEngine: (address: string) => EngineClient
  /** Fails as the check of an address does. */
  checkUrl: (url: string) => Promise<void>
  clock: Clock
  log: Logger
}

export interface Call {
  accountId?: string
  body?: unknown
  idempotencyKey?: string
  params?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
}

/** A response: with the code of its error, or the answer. */
export interface Answer {
  status: number
  code?: string
  body?: unknown
  headers: Record<string, string>
}

export type SimulatedGateway = ReturnType<typeof startGateway>

export function startGateway(parts: GatewayParts) {
  const { store, broker, mediaStore, clock, log } = parts
  const engineRegistry = new EngineRegistry({ connect: parts.connectEngine, clock, log })
  const feed = new RequestFeed(1_000, (id) => broker.publishChange(id))
  const webhookSender = new WebhookSender({
    store,
    clock,
    log,
    encryptionKeys: CONFIG.encryptionKeys,
    post: parts.post,
    triesMax: 16,
    hostTriesMax: 8,
  })
  const deps: Deps & { mediaStore: LocalDisk } = {
    store,
    mediaStore,
    pendingUploads: new PendingUploads({ store, mediaStore, clock, log, config: CONFIG }),
    broker,
    engineRegistry,
    feed,
    queueOutlook: new QueueOutlook({ store, feed, clock, engineRegistry }),
    clock,
    log,
    metrics,
    rateLimiter: new RateLimiter({ perMinute: 0, clock, store }),
    keyChecks: new KeyChecks({ store, clock }),
    keyUses: new KeyUses({ store, clock }),
    config: CONFIG,
    checkAudioUrl: parts.checkUrl,
    checkWebhookUrl: parts.checkUrl,
    webhookTester: new WebhookTester({
      post: parts.post,
      clock,
      limiter: new RateLimiter({ perMinute: TESTS_PER_MINUTE, clock, store }),
    }),
    wakePublisher: () => publisher.wake(),
    wakeWebhooks: () => webhookSender.wake(),
  }
  const publisher = createJobPublisher({ ...deps, broker })
  const rescuer = createRescuer({ ...deps, broker })
  const sweeper = createSweeper(deps)
  publisher.start()
  webhookSender.start()
  rescuer.start(RESCUE_AFTER_MS)
  broker.followLosses(() => rescuer.streamsLost())
  sweeper.start(SWEEP_AFTER_MS)
  const stopFollowing = [
    broker.followEvents(createEventHandler(deps)),
    broker.followDeadLetters(createDeadLetterHandler(deps)),
  ]
  broker.followProgress((progress) => feed.progressed(progress))
  broker.followChanges((requestId) => feed.rowChangedElsewhere(requestId))
  broker.followAnnouncements((announcement) => engineRegistry.announced(announcement))
  const routes = routesOf(deps)
  return {
    deps,
    /** Calls a route as a client or an engine does over HTTP. */
    call: (route: string, call: Call) => answerOf(routes.get(route)!, call),
    /** Stops in order, as at SIGTERM. */
    async stop(): Promise<void> {
      const webhooksEnded = webhookSender.stop()
      const loops = [publisher, rescuer, sweeper]
      const following = stopFollowing.map(async (stop) => (await stop)())
      await Promise.all([...loops.map((loop) => loop.stop()), ...following])
      await webhooksEnded
      engineRegistry.close()
    },
  }
}

type Handler = (request: object, reply: object) => unknown

/** The handlers of the real routes, by method and path. */
function routesOf(deps: Deps & { mediaStore: LocalDisk }): Map<string, Handler> {
  const routes = new Map<string, Handler>()
  const route = (method: string) => (path: string, _options: object, handler: Handler) => {
    routes.set(`${method} ${path}`, handler)
  }
  const app = {
    get: route('GET'),
    put: route('PUT'),
    post: route('POST'),
    removeAllContentTypeParsers: () => undefined,
    addContentTypeParser: () => undefined,
  } as unknown as FastifyInstance
  for (const add of [submitRoute, statusRoute, resultRoute, cancelRoute]) add(app, deps)
  for (const add of [createFileRoute, redeliverRoute, mediaRoutes, uploadRoutes]) add(app, deps)
  return routes
}

async function answerOf(handler: Handler, call: Call): Promise<Answer> {
  const { accountId, body, idempotencyKey, params = {}, query = {}, headers = {} } = call
  const answer: Answer = { status: 200, headers: {} }
  const reply = {
    raw: { once: () => undefined },
    status: (status: number) => Object.assign(reply, { _: (answer.status = status) }),
    header: (name: string, value: string) =>
      Object.assign(reply, { _: (answer.headers[name] = value) }),
    headers: () => reply,
    type: () => reply,
    send: (payload?: unknown) => Object.assign(reply, { _: (answer.body = payload) }),
  }
  const given = { ...headers, ...(idempotencyKey && { 'idempotency-key': idempotencyKey }) }
  const bodyText = JSON.stringify(body) ?? ''
  const request = { accountId, body, bodyText, params, query, headers: given, raw: {} }
  try {
    const returned = await handler(request, reply)
    if (returned !== reply) answer.body = returned
  } catch (error) {
    if (!(error instanceof ServiceError)) return { ...answer, status: 500, code: String(error) }
    return { ...answer, status: error.status, code: error.code }
  }
  if (typeof answer.body === 'string') answer.body = JSON.parse(answer.body)
  return answer
}
