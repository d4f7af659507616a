/**
 * The engine process: configuration, compute, broker, intake and control server. It drains when it
 * is stopped.
 */

import { deviceDefaults, oneGpu } from '../models/tensorflow/device-defaults.ts'
import { connectBroker } from '../shared/broker/broker.ts'
import { systemClock } from '../shared/clock.ts'
import { takeCredentials } from '../shared/process/credentials.ts'
import { journalDestination } from '../shared/process/journal.ts'
import {
  announceReady,
  onShutdown,
  settingsOrEnd,
  startOrEnd,
} from '../shared/process/lifecycle.ts'
import { createLogger } from '../shared/telemetry/log.ts'
import { loadTls } from '../shared/process/tls-files.ts'
import { startMetricsServer } from '../shared/telemetry/metrics-server.ts'
import { startTracing } from '../shared/telemetry/tracing.ts'
import { version } from '../shared/version.ts'
import { createPublicFetch } from '../shared/http/public-fetch.ts'
import { connectServiceManager } from '../shared/process/service-manager.ts'
import { Computes } from './compute/computes.ts'
import { killHungProcess } from './compute/compute-watchdog.ts'
import { loadConfig } from './config.ts'
import { startControlServer } from './control-server.ts'
import { createEngine } from './engine.ts'
import { collectLessOften } from './garbage-collection.ts'
import { prepareScratch } from './job/scratch.ts'
import { sandboxProblem, sandboxSupport } from './media/process/sandbox-support.ts'
import { EngineMetrics, engineStateText } from './operations/engine-metrics.ts'
import { openGpuMonitor } from './operations/gpu-monitor.ts'

/** How often the engine announces itself. */
const ANNOUNCE_MS = 3_000

/**
 * How long a shutdown may take in addition to the drain. With a broker that does not answer, the
 * pending pull, the reports of released jobs and closing take some seconds each.
 */
const STOP_MS_MAX = 30_000

collectLessOften()
// The native libraries of the compute thread only see variables that are set here.
Object.assign(process.env, deviceDefaults(process.env), oneGpu(process.env))
const config = settingsOrEnd('engine', () => loadConfig(takeCredentials(process.env)))
const plainLog = createLogger('engine', config.logLevel)
const journal = await startOrEnd(plainLog, journalDestination(process.env))
const log = (journal ? createLogger('engine', config.logLevel, journal) : plainLog).child({
  engineId: config.engineId,
})
const manager = await startOrEnd(log, connectServiceManager(process.env, log))

const stopTracing = await startTracing({
  service: 'winnow-engine',
  version,
  endpoint: config.otlpEndpoint,
  log,
})
await startOrEnd(log, prepareScratch(config.scratchFolder))
const [computes, support] = await Promise.all([Computes.start(config, log), sandboxSupport()])
const unsafe = sandboxProblem(support)
if (unsafe) log.warn(`the sandbox of media is incomplete: ${unsafe}`)
const broker = await startOrEnd(
  log,
  connectBroker({
    address: config.brokerAddress,
    name: config.engineId,
    leaseSeconds: config.leaseSeconds,
    isEngine: true,
    log,
  }),
)
const publicFetch = createPublicFetch({ allowCidrs: config.egressAllowCidrs })
const metrics = new EngineMetrics()
metrics.watchProcess(config.scratchFolder)
const gpus = await openGpuMonitor({
  visible: config.visibleGpus,
  onXid: (error) => metrics.xidReported(error),
  log,
})
const engine = createEngine({
  config,
  version,
  computes,
  broker,
  publicFetch,
  clock: systemClock,
  log,
  metrics,
  fetchEnvironment: fetchEnvironment(),
  onModelsChanged: () => announce(),
  onSick: (reason) => void end(reason),
})
const tls = await startOrEnd(log, loadTls(config.tlsFiles))
const control = await startOrEnd(
  log,
  startControlServer(config.controlHost, config.controlPort, engine, tls),
)
const metricsServer =
  config.metricsPort === 'off'
    ? null
    : await startOrEnd(
        log,
        startMetricsServer(config.metricsHost, config.metricsPort, { text: metricsText, log, tls }),
      )

announce()
const announcements = setInterval(announce, ANNOUNCE_MS)
// Installed before the first job is leased, because a process that ended without this would keep
// its lease.
onShutdown(log, async () => {
  limitStop(config.drainSeconds * 1_000)
  manager.stopping(config.drainSeconds + STOP_MS_MAX / 1_000)
  control.notServing()
  log.info(await engine.drain(0), 'drained its jobs')
  await stop()
})
await engine.start()
for (const warning of computes.warnings) log.warn(warning)
const addresses = {
  control: control.address,
  ...(metricsServer && { metrics: metricsServer.address }),
}
const { backend, device } = computes.thread.ready
log.info({ ...addresses, models: modelNames(), backend, device }, 'is ready')
announceReady({ engineId: config.engineId, ...addresses })
manager.ready(state())
manager.keepAlive(() => computes.thread.beat(), state)

void broker.closed().then((error) => {
  if (error) void end(`the connection to the broker is closed: ${error.message}`)
})

/** Returns all metrics. The GPUs are read first, because that counts towards the rest. */
async function metricsText(): Promise<string> {
  const now = {
    gpus: await gpus.read(),
    description: engine.describe(),
    stats: engine.stats(),
    held: computes.held,
    brokerConnected: broker.isConnected(),
  }
  return (await metrics.text()) + (await engineStateText(now))
}

/** Contains no secret and no GPU, because models are converted on the CPU. */
function fetchEnvironment(): NodeJS.ProcessEnv {
  const names = ['HOME', 'PATH', 'TMPDIR', 'LD_LIBRARY_PATH', 'NODE_EXTRA_CA_CERTS']
  const values = names.map((name) => [name, process.env[name]])
  return { ...deviceDefaults({}), ...Object.fromEntries(values), CUDA_VISIBLE_DEVICES: '' }
}

function announce(): void {
  broker.announceEngine({
    engine_id: config.engineId,
    control_address: config.controlAddress ?? control.address,
    models_version: engine.stats().models_version,
  })
}

function modelNames(): string[] {
  return engine.describe().models.map(({ name }) => name)
}

/** The status line for the service manager. */
function state(): string {
  const { state: word, jobs } = engine.stats()
  const names = modelNames().join(', ')
  return `${word}: ${names} on ${device}, ${jobs} of ${config.jobsMax} jobs in flight`
}

/** Ends a process that cannot serve, so that its supervisor starts another. */
async function end(reason: string): Promise<void> {
  log.fatal(reason)
  limitStop(0)
  control.notServing()
  try {
    log.info(await engine.release(), 'released its jobs')
    await stop()
  } finally {
    process.exit(1)
  }
}

async function stop(): Promise<void> {
  clearInterval(announcements)
  control.stop()
  await metricsServer?.stop()
  gpus.close()
  await broker.close()
  await stopTracing()
  await computes.stop()
}

function limitStop(drainMs: number): void {
  setTimeout(() => killHungProcess(log, 'it could not stop in order'), drainMs + STOP_MS_MAX)
}
