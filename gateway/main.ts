/** The gateway process: starts all parts in order, and stops them in the reverse order. */

import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openBroker } from '../shared/broker/broker.ts'
import { isoTime, systemClock } from '../shared/clock.ts'
import { takeCredentials } from '../shared/process/credentials.ts'
import { inheritedSockets } from '../shared/process/inherited-sockets.ts'
import { newId } from '../shared/ids.ts'
import { journalDestination } from '../shared/process/journal.ts'
import {
  announceReady,
  onDisk,
  onShutdown,
  settingsOrEnd,
  startOrEnd,
} from '../shared/process/lifecycle.ts'
import { writeOwnAddress } from '../shared/own-address.ts'
import { makeFolder } from '../shared/process/make-folder.ts'
import { loadTls } from '../shared/process/tls-files.ts'
import { createLogger } from '../shared/telemetry/log.ts'
import { startMetricsServer } from '../shared/telemetry/metrics-server.ts'
import { startTracing } from '../shared/telemetry/tracing.ts'
import { version } from '../shared/version.ts'
import { createPublicFetch } from '../shared/http/public-fetch.ts'
import { connectServiceManager } from '../shared/process/service-manager.ts'
import { renewEndpointSecrets } from './webhooks/endpoint-secrets.ts'
import { createPublicPost } from './webhooks/public-post.ts'
import { buildAdminApp, buildApp } from './app.ts'
import { loadConfig, mediaOrigins, portAfter } from './config.ts'
import { createGateway } from './gateway.ts'
import { answerSupervisor, isOneOfSeveral, superviseGateways } from './supervisor.ts'
import { installConnectionDraining } from './api/connection-draining.ts'
import { listen } from './api/listen.ts'
import { EgressPool } from './requests/submit/egress-pool.ts'
import { startGrpcServer } from './grpc/server.ts'
import { openLocalDisk } from './media-store/local-disk.ts'
import { engineConnector } from './operations/engine-address.ts'
import { Metrics } from './operations/metrics.ts'
import { createMetricsText } from './operations/state-metrics.ts'
import { defaultMediaBytesMax } from './accounts/media-quota.ts'
import { ensureFirstApiKey } from './accounts/first-key.ts'
import { assertSameSecrets, readSecrets } from './secrets.ts'
import { claimMedia } from './operations/installation.ts'
import { isPostgres } from './store/database.ts'
import { holdDataFolder } from './store/driver/data-folder.ts'
import { ensureInstallation } from './store/installation.ts'
import { openDatabase } from './store/driver/open.ts'
import { createUrlChecks } from './requests/submit/url-checks.ts'

/** Time for open HTTP requests to end at shutdown; then their connections are closed. */
const CLOSE_MS_MAX = 3_000
/** The longest stop, webhooks in flight included. */
const STOP_SECONDS_MAX = 30
/**
 * Within this time, clients that keep their connections open call again, and are told to close
 * them.
 */
const PARTING_MS = 2_000

const settings = settingsOrEnd('gateway', () => loadConfig(takeCredentials(process.env)))
const plainLog = createLogger('gateway', settings.logLevel)
const journal = await startOrEnd(plainLog, journalDestination(process.env))
const log = journal ? createLogger('gateway', settings.logLevel, journal) : plainLog
const orEnd = <T>(work: Promise<T>) => startOrEnd(log, work)
const manager = await orEnd(connectServiceManager(process.env, log))
if (settings.gateways > 1 && !isOneOfSeveral) {
  await orEnd(superviseGateways({ settings, log, manager, stopSecondsMax: STOP_SECONDS_MAX }))
}
const socketsOwner = isOneOfSeveral ? process.ppid : process.pid
const sockets = await orEnd(inheritedSockets(process.env, ['http', 'grpc', 'admin'], socketsOwner))
const clock = systemClock
const { dataFolder } = settings
const stopTracing = await startTracing({
  service: 'winnow-gateway',
  version,
  endpoint: settings.otlpEndpoint,
  log,
})
process.umask(0o077) // the data folder is private to this user
const inDataFolder = <T>(work: Promise<T>) => orEnd(onDisk(`DATA_DIR: ${dataFolder}`, work))
await inDataFolder(makeFolder(dataFolder))
if (settings.databaseUrl === undefined) await inDataFolder(holdDataFolder(dataFolder, log))
const secrets = await inDataFolder(readSecrets(settings))
const { signingKeys, encryptionKeys } = secrets
const store = await orEnd(openDatabase(settings, log, { migrates: true }))
if (isPostgres(store)) await orEnd(assertSameSecrets(store, secrets))
await orEnd(renewEndpointSecrets(store, encryptionKeys))
const { bootstrapApiKey } = settings
await inDataFolder(
  ensureFirstApiKey(store, { dataFolder, bootstrapApiKey, now: isoTime(clock.now()) }),
)
const tls = await orEnd(loadTls(settings.tlsFiles))
const installation = await orEnd(ensureInstallation(store, newId('inst')))
const { brokerAddress: address, leaseSeconds } = settings
const broker = await orEnd(
  openBroker({
    address,
    name: 'gateway',
    installation: installation.installation_id,
    leaseSeconds,
    log,
  }),
)

const publicFetch = createPublicFetch({ allowCidrs: settings.egressAllowCidrs })
const publicPost = createPublicPost({
  allowCidrs: settings.egressAllowCidrs,
  limits: { addressPostsMax: settings.webhooksPerHostMax },
})
/** Set once the gateway listens. Requests still need it while the gateway stops. */
let ownUrl = ''
let ownAdminUrl: string | undefined
const listening = () => ownUrl
const publicUrl = () => settings.publicUrl ?? listening()
const { adminHost, adminPort, adminToken } = settings
const hasAdminAddress =
  adminToken !== undefined && (adminPort !== 'off' || sockets.admin !== undefined)
const { s3Bucket: bucket, s3Region: region } = settings
const mediaStore =
  bucket === undefined
    ? await inDataFolder(
        openLocalDisk({
          folder: join(dataFolder, 'media'),
          signingKeys,
          baseUrls: { client: publicUrl, engine: () => settings.mediaUrl ?? listening() },
          freeBytesMin: settings.diskFreeBytesMin,
          isShared: settings.databaseUrl !== undefined,
          engineFolder: settings.engineFolder && resolve(settings.engineFolder),
        }),
      )
    : await orEnd(
        // loaded only if it is used, because it takes 25 MB
        (await import('./media-store/s3.ts')).openBucket({
          bucket,
          region,
          endpoint: settings.s3Endpoint,
          publicEndpoint: settings.s3PublicEndpoint,
        }),
      )
await inDataFolder(claimMedia(store, mediaStore, installation))
const metrics = new Metrics()
metrics.watchProcess(dataFolder)
const gateway = createGateway({
  store,
  mediaStore,
  broker,
  clock,
  log,
  metrics,
  connectEngine: engineConnector(settings.engineNetworks, tls),
  post: publicPost.post,
  ...createUrlChecks(publicFetch, publicPost, new EgressPool()),
  config: {
    ...settings,
    mediaBytesMaxPerAccount:
      settings.mediaBytesMaxPerAccount || (await defaultMediaBytesMax(store, mediaStore)),
    encryptionKeys,
    publicUrl,
    hasAdminAddress,
    adminUrl: () => settings.adminUrl ?? ownAdminUrl ?? publicUrl(),
    playgroundFolder: fileURLToPath(new URL('../.runtime/web', import.meta.url)),
    clientsFolder: fileURLToPath(new URL('../.runtime/clients', import.meta.url)),
    docsFolder: fileURLToPath(new URL('../.runtime/docs', import.meta.url)),
    mediaOrigins: mediaOrigins(settings),
  },
})
const { deps } = gateway
const app = await buildApp(deps)
const parting = installConnectionDraining(app)
const { host, port } = settings
ownUrl = await orEnd(listen(app, { host, port, prefix: '' }, sockets.http))
const adminApp = hasAdminAddress ? await buildAdminApp(deps, tls) : undefined
if (adminApp) {
  const place = { host: adminHost, port: adminPort === 'off' ? 0 : adminPort } as const
  ownAdminUrl = await orEnd(listen(adminApp, { ...place, prefix: 'ADMIN_' }, sockets.admin))
}
const removeAddress = isOneOfSeveral
  ? async () => undefined // the supervisor has written the address
  : await inDataFolder(writeOwnAddress(dataFolder, listening(), ownAdminUrl))
const { grpcHost, grpcPort = portAfter(settings.port, 1) } = settings
const grpcServer =
  grpcPort === 'off'
    ? null
    : await orEnd(startGrpcServer(grpcHost, grpcPort, deps, { fd: sockets.grpc, tls }))
const { metricsHost, metricsPort = portAfter(settings.port, 1_000) } = settings
const metricsServer =
  metricsPort === 'off'
    ? null
    : await orEnd(
        startMetricsServer(metricsHost, metricsPort, { text: createMetricsText(deps), log, tls }),
      )

await gateway.start(broker)

void broker.closed().then((error) => {
  if (!error) return
  log.fatal(error.message)
  process.exit(1) // what is in the database is safe; whoever supervises the process starts another
})

onShutdown(log, async () => {
  manager.stopping(STOP_SECONDS_MAX)
  await removeAddress()
  if (sockets.http !== undefined) await parting.begin(PARTING_MS) // the next process has the socket
  await gateway.stop(async () => {
    const apps = [app, ...(adminApp ? [adminApp] : [])]
    const cutAll = () => apps.forEach(({ server }) => server.closeAllConnections())
    const cut = setTimeout(cutAll, CLOSE_MS_MAX)
    const closing = apps.map((each) => each.close())
    await Promise.all([...closing, grpcServer?.stop(), metricsServer?.stop()])
    clearTimeout(cut)
  })
  await broker.close()
  await stopTracing()
  await store.destroy()
})
const addresses = {
  address: listening(),
  ...(ownAdminUrl !== undefined && { admin: ownAdminUrl }),
  ...(grpcServer && { grpc: grpcServer.address }),
  ...(metricsServer && { metrics: metricsServer.address }),
}
if (isOneOfSeveral) answerSupervisor()
announceReady(addresses)
manager.ready(`serving at ${addresses.address}`)
manager.keepAlive(
  async () => undefined, // only the event loop must turn
  () => `serving at ${addresses.address}, ${deps.engineRegistry.engines} engines`,
)
log.info(addresses, 'is ready')
