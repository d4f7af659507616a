/** The HTTP applications: hooks and routes, without a port. */

import { maxHeaderSize } from 'node:http'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { MINUTE_MS } from '../shared/durations.ts'
import { httpsOptions, type Tls } from '../shared/process/tls-files.ts'
import { createAuthenticator } from './accounts/auth.ts'
import { createSessionAuthenticator } from './accounts/sessions.ts'
import { withoutUploadToken } from './api/fal-shapes.ts'
import { installBodyDeadline } from './api/body-deadline.ts'
import { keepBodyText } from './api/body-text.ts'
import { callerOf, callIdOf, clientAddress } from './api/call-log.ts'
import type { Settings } from './config.ts'
import type { GatewayDeps } from './gateway.ts'
import type { RequestFeed } from './requests/follow/request-feed.ts'
import type { Logger } from '../shared/telemetry/log.ts'
import type { Metrics } from './operations/metrics.ts'
import { installTracing } from './api/tracing.ts'
import { installCors } from './api/cors.ts'
import { answerBrokenHttp, answerError } from './api/error-handler.ts'
import { falRoutes, falUploadRoutes, falUrl, installFal } from './routes/fal.ts'
import { forbidStoring } from './api/no-store.ts'
import { installNotFound } from './api/not-found.ts'
import { installOpenApi } from './api/openapi.ts'
import { installRateLimit } from './accounts/rate-limit.ts'
import { accountRoutes } from './routes/account.ts'
import { adminRoutes } from './routes/admin.ts'
import { adminEngineRoutes } from './routes/admin-engines.ts'
import { adminOverviewRoutes } from './routes/admin-overview.ts'
import { adminSignInRoutes } from './routes/admin-sign-in.ts'
import { clientRoutes } from './routes/clients.ts'
import { docsRoutes } from './routes/docs.ts'
import { fileRoutes } from './routes/files.ts'
import { livePreviewRoute } from './routes/live-preview.ts'
import { mcpRoute } from './routes/mcp.ts'
import { mediaRoutes } from './routes/media.ts'
import { modelsRoute } from './routes/models.ts'
import { openApiRoute } from './routes/openapi-document.ts'
import { operationsRoutes } from './routes/operations.ts'
import { ownKeyRoutes } from './routes/own-keys.ts'
import { playgroundRoutes } from './routes/playground.ts'
import { requestRoutes } from './routes/requests.ts'
import { separateRoutes } from './routes/separate.ts'
import { sharedRoute, shareRoutes } from './routes/shares.ts'
import { codeRoute, PLAYGROUND, sessionRoutes } from './routes/sessions.ts'
import { statusStreamRoute } from './routes/status-stream.ts'
import { submitRoutes } from './routes/submit.ts'
import { uploadRoutes } from './routes/uploads.ts'
import { webhookEndpointRoutes } from './routes/webhook-endpoints.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { BODY_BYTES_MAX } from './api/validation.ts'

/** The time for an upload of outputs, and of inputs unless their addresses live longer. */
const UPLOAD_MINUTES = 60
/** The status in the log, as in nginx, of a call whose client hung up before the answer began. */
const HUNG_UP = 499
/**
 * The longest time that a connection may be idle. No response takes longer, and no status stream
 * pauses for longer.
 */
const SILENT_MS_MAX = 2 * MINUTE_MS

/** The application for clients, and for admins unless they have an address of their own. */
export async function buildApp(deps: GatewayDeps): Promise<FastifyInstance> {
  const { config } = deps
  const app = await createBase(deps)
  openApiRoute(app, deps)
  clientRoutes(app, deps)
  await mediaApi(app, deps)
  const hasPage = config.playground === 'on'
  await app.register(async (v1) => {
    await apiRoutes(v1, deps, createAuthenticator(deps))
    mcpRoute(v1)
    if (hasPage) codeRoute(v1, deps)
  })
  await app.register(async (v1) => {
    admitCallers(v1, deps, createAuthenticator(deps))
    await separateRoutes(v1, deps)
  })
  if (hasPage) {
    playgroundRoutes(app, { config, audience: config.hasAdminAddress ? 'clients' : 'all' })
    sharedRoute(app, deps)
    await sessionApi(app, deps)
  }
  await falApi(app, deps)
  if (!config.hasAdminAddress) await adminApi(app, deps)
  await app.ready()
  return app
}

/**
 * Builds the application for admins at an address of their own: the admin API, the page, and the
 * documents that the page links to.
 */
export async function buildAdminApp(deps: GatewayDeps, tls: Tls | undefined) {
  const { config } = deps
  const app = await createBase(deps, tls)
  openApiRoute(app, { config: { publicUrl: config.adminUrl } })
  if (config.playground === 'on') playgroundRoutes(app, { config, audience: 'admins' })
  await adminApi(app, deps)
  await app.ready()
  return app
}

/** What all applications have: hooks, health and documents. With `tls` it speaks HTTPS. */
async function createBase(deps: GatewayDeps, tls?: Tls): Promise<FastifyInstance> {
  const { http, ...timeouts } = waits(deps.config)
  const app: FastifyInstance = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    // Fastify's lines would show the signatures of media addresses.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: maxHeaderSize }, // an id of any length is answered with 404
    onProtoPoisoning: 'ignore', // metadata may have any keys, and bodies are never merged
    onConstructorPoisoning: 'ignore',
    trustProxy: [...deps.config.trustedProxies],
    requestIdHeader: false,
    rewriteUrl: falUrl,
    genReqId: ({ headers }) => callIdOf(headers['x-request-id'], 'http'),
    ...(tls ? { https: { ...http, ...httpsOptions(tls) } as object } : { http }),
    ...timeouts,
    frameworkErrors: answerError,
    clientErrorHandler: answerBrokenHttp,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  })
  // Schemas of routes only describe them: bodies are checked in validation.ts, and invalid query
  // values are not refused.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(answerError)
  installHooks(app, deps)
  app.removeContentTypeParser('text/plain')
  keepBodyText(app)
  installCors(app, deps.config.corsOrigins)
  installNotFound(app)
  await installOpenApi(app)
  operationsRoutes(app, deps)
  docsRoutes(app, deps)
  app.server.maxConnections = deps.config.connectionsMax
  return app
}

async function adminApi(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  await app.register(async (admin) => {
    adminRoutes(admin, deps)
    if (deps.config.adminToken === undefined) return
    adminEngineRoutes(admin, deps)
    adminOverviewRoutes(admin, deps)
  })
  await app.register(async (open) => adminSignInRoutes(open, deps))
}

/**
 * Timeouts of a connection, against clients that send almost nothing. Node checks them
 * periodically; bodies have limits of their own.
 */
function waits({ bodySecondsMax, uploadMinutes }: Settings<'bodySecondsMax' | 'uploadMinutes'>) {
  const bodyMsMax = 1_000 * bodySecondsMax
  return {
    http: { headersTimeout: bodyMsMax, connectionsCheckingInterval: Math.ceil(bodyMsMax / 3) },
    requestTimeout: MINUTE_MS * Math.max(UPLOAD_MINUTES, uploadMinutes),
    connectionTimeout: SILENT_MS_MAX,
  }
}

interface CallLogDeps {
  log: Logger
  metrics: Pick<Metrics, 'httpAnswered'>
}

function installHooks(
  app: FastifyInstance,
  { feed, log, metrics }: CallLogDeps & { feed: Pick<RequestFeed, 'close'> },
): void {
  app.decorateRequest('client', '')
  app.addHook('onRequest', async (request, reply) => {
    request.client = clientAddress(request) // while its connection surely exists
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
  })
  const note = callNoter({ log, metrics })
  app.addHook('onResponse', async (request, reply) => note(request, reply, 'answered a call'))
  // `onResponse` does not run for a client that hangs up.
  app.addHook('onRequest', async (request, reply) => {
    reply.raw.once('close', () => note(request, reply, 'the client hung up'))
  })
  app.addHook('preClose', async () => feed.close()) // open status streams end cleanly
}

/** Returns a function that logs and counts each call once, when it is over. */
function callNoter({ log, metrics }: CallLogDeps) {
  const notedRequests = new WeakSet<FastifyRequest>()
  return (request: FastifyRequest, reply: FastifyReply, outcome: string): void => {
    if (notedRequests.has(request)) return
    notedRequests.add(request)
    const [url = ''] = request.url.split('?') // the query may hold a signature
    const path = withoutUploadToken(url)
    const {
      method,
      routeOptions: { url: route = '' },
    } = request
    const status = reply.raw.headersSent ? reply.statusCode : HUNG_UP
    const ms = reply.elapsedTime
    const call = { callId: request.id, method, path, status, ms: Math.round(ms) }
    const caller = request.apiKey && callerOf(request.apiKey)
    const admin = request.admin?.subject && { adminSubject: request.admin.subject }
    log.info({ ...call, ...caller, ...admin, client: request.client }, outcome)
    metrics.httpAnswered({ method, route, status, ms })
  }
}

/** Adds the addresses of media on a local disk. A bucket answers at addresses of its own. */
async function mediaApi(app: FastifyInstance, { mediaStore, ...deps }: GatewayDeps): Promise<void> {
  if (mediaStore.kind !== 'local disk') return
  mediaRoutes(app, { ...deps, mediaStore })
  await app.register(async (uploads) => uploadRoutes(uploads, { ...deps, mediaStore }))
}

/**
 * Adds the page's sessions and, for them, the API a second time, which the API description leaves
 * out.
 */
async function sessionApi(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  await app.register(async (sessions) => sessionRoutes(sessions, deps))
  await app.register(
    async (v1) => {
      v1.addHook('onRoute', (route) => {
        route.schema = { hide: true }
      })
      await apiRoutes(v1, deps, createSessionAuthenticator(deps))
    },
    { prefix: PLAYGROUND },
  )
}

async function falApi(app: FastifyInstance, deps: GatewayDeps): Promise<void> {
  if (deps.config.falApi === 'off') return
  await app.register(async (fal) => {
    installFal(fal)
    admitCallers(fal, deps, createAuthenticator(deps))
    installBodyDeadline(fal, deps.config.bodySecondsMax)
    falRoutes(fal, deps)
  })
  await app.register(async (uploads) => falUploadRoutes(uploads, deps))
}

type Authenticator = ReturnType<typeof createAuthenticator>

function admitCallers(app: FastifyInstance, deps: GatewayDeps, authenticate: Authenticator): void {
  app.decorateRequest('accountId', '').decorateRequest('apiKey')
  forbidStoring(app)
  installTracing(app)
  app.addHook('onRequest', authenticate)
  installRateLimit(app, deps.rateLimiter)
}

/** Adds everything that needs an account, except calls that bring a file. */
async function apiRoutes(app: FastifyInstance, deps: GatewayDeps, authenticate: Authenticator) {
  admitCallers(app, deps, authenticate)
  installBodyDeadline(app, deps.config.bodySecondsMax)
  const routes = [
    modelsRoute,
    fileRoutes,
    submitRoutes,
    requestRoutes,
    statusStreamRoute,
    livePreviewRoute,
    webhookRoutes,
    webhookEndpointRoutes,
    accountRoutes,
    ownKeyRoutes,
    ...(deps.config.playground === 'on' ? [shareRoutes] : []), // the page plays shared results
  ]
  for (const route of routes) route(app, deps)
}
