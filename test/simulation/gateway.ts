/** One gateway of a simulated run, wired as in `gateway/main.ts`, but without sockets. */

import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../shared/clock.ts'
import { ServiceError } from '../../shared/errors.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import { createGateway, type GatewayDeps } from '../../gateway/gateway.ts'
import type { LocalDisk } from '../../gateway/media-store/media-store.ts'
import type { EngineClient } from '../../gateway/operations/engine-registry.ts'
import { Metrics } from '../../gateway/operations/metrics.ts'
import { fileRoutes } from '../../gateway/routes/files.ts'
import { mediaRoutes } from '../../gateway/routes/media.ts'
import { requestRoutes } from '../../gateway/routes/requests.ts'
import { submitRoutes } from '../../gateway/routes/submit.ts'
import { uploadRoutes } from '../../gateway/routes/uploads.ts'
import { webhookRoutes } from '../../gateway/routes/webhooks.ts'
import type { Store } from '../../gateway/store/database.ts'
import type { PublicPost } from '../../gateway/webhooks/public-post.ts'
import type { Broker } from '../../shared/broker/interface.ts'

const RETENTION = { uploadMinutes: 60, fileHours: 24, outputDays: 7, recordDays: 30 }

const CONFIG: Parameters<typeof createGateway>[0]['config'] = {
  ...RETENTION,
  encryptionKeys: [Buffer.alloc(32, 1).toString('base64url')],
  publicUrl: () => 'http://winnow.test',
  hasAdminAddress: false,
  adminUrl: () => 'http://winnow.test',
  falApi: 'off',
  playground: 'off',
  playgroundFolder: 'no-folder',
  clientsFolder: 'no-folder',
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
  priority: 'interactive',
  jobsMaxPerAccount: 0,
  monthSecondsMaxPerAccount: 0,
  fileBytesMax: 524_288_000,
  mediaSecondsMax: 7_200,
  rateLimitPerMinute: 0,
  streamsMaxPerAccount: 1_000,
  webhooksMax: 16,
  webhooksPerHostMax: 8,
}

/** Shared by all runs, because it is slow to create; only its counters are used. */
const metrics = new Metrics()

export interface GatewayParts {
  store: Store
  broker: Broker
  mediaStore: LocalDisk
  post: PublicPost['post']
  connectEngine: (address: string) => EngineClient
  /** Fails like the check of a URL. */
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

/** A response, with the body or the code of its error. */
export interface Answer {
  status: number
  code?: string
  body?: unknown
  headers: Record<string, string>
}

export type SimulatedGateway = ReturnType<typeof startGateway>

export function startGateway(parts: GatewayParts) {
  const { checkUrl, ...others } = parts
  const gateway = createGateway({
    ...others,
    checkAudioUrl: checkUrl,
    checkWebhookUrl: checkUrl,
    metrics,
    config: CONFIG,
  })
  const deps = { ...gateway.deps, mediaStore: parts.mediaStore }
  void gateway.start(parts.broker)
  const routes = routesOf(deps)
  return {
    deps,
    /** Calls a route as a client or an engine would over HTTP. */
    call: (route: string, call: Call) => answerOf(routes.get(route)!, route.split(' ')[0]!, call),
    /** Shuts down gracefully, as on SIGTERM. */
    stop: () => gateway.stop(),
  }
}

type Handler = (request: object, reply: object) => unknown

/** Returns the handlers of the real routes by method and path. */
function routesOf(deps: GatewayDeps & { mediaStore: LocalDisk }): Map<string, Handler> {
  const routes = new Map<string, Handler>()
  const route = (method: string) => (path: string, _options: object, handler: Handler) => {
    routes.set(`${method} ${path}`, handler)
  }
  const app = {
    get: route('GET'),
    put: route('PUT'),
    post: route('POST'),
    patch: route('PATCH'),
    delete: route('DELETE'),
    removeAllContentTypeParsers: () => undefined,
    addContentTypeParser: () => undefined,
  } as unknown as FastifyInstance
  for (const add of [submitRoutes, requestRoutes, fileRoutes]) add(app, deps)
  for (const add of [webhookRoutes, mediaRoutes, uploadRoutes]) add(app, deps)
  return routes
}

async function answerOf(handler: Handler, method: string, call: Call): Promise<Answer> {
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
  const requestHeaders = {
    ...headers,
    ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
  }
  const bodyText = JSON.stringify(body) ?? ''
  const apiKey = { account_id: accountId, own_priority: null }
  const request = {
    ...{ method, accountId, apiKey, body, bodyText, params, query },
    ...{ headers: requestHeaders, raw: {} },
  }
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
