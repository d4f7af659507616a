/** Starts an engine as `engine/main.ts` does, but with the model of `worker.ts`. */

import { ComputeThread } from '../../engine/compute/compute-thread.ts'
import { Computes } from '../../engine/compute/computes.ts'
import { loadConfig } from '../../engine/config.ts'
import { createEngine } from '../../engine/engine.ts'
import { collectLessOften } from '../../engine/garbage-collection.ts'
import { prepareScratch } from '../../engine/job/scratch.ts'
import { EngineMetrics } from '../../engine/operations/engine-metrics.ts'
import { connectBroker } from '../../shared/broker/broker.ts'
import { systemClock } from '../../shared/clock.ts'
import { createPublicFetch } from '../../shared/http/public-fetch.ts'
import { announceReady, onShutdown } from '../../shared/process/lifecycle.ts'
import { createLogger } from '../../shared/telemetry/log.ts'
import { startTracing } from '../../shared/telemetry/tracing.ts'
import { version } from '../../shared/version.ts'

collectLessOften()
const mini = { kind: 'mini' } as const
const config = { ...loadConfig(process.env), models: [{ ...mini, name: 'free' as 'mini' }] }
const log = createLogger('engine', config.logLevel)
await startTracing({
  service: 'winnow-engine',
  version,
  endpoint: process.env.OTEL_EXPORTER_OTLP_ENDPOINT,
  log,
})
await prepareScratch(config.scratchFolder)
const { brokerAddress: address, engineId: name, leaseSeconds } = config
const thread = await ComputeThread.start(config, log, new URL('./worker.ts', import.meta.url))
const engine = createEngine({
  config,
  version,
  computes: new Computes(
    thread,
    () => true,
    () => Promise.reject(new Error('no model is installed')),
  ),
  broker: await connectBroker({ address, name, leaseSeconds, log }),
  publicFetch: createPublicFetch({ allowCidrs: config.egressAllowCidrs }),
  clock: systemClock,
  log,
  metrics: new EngineMetrics(),
  fetchEnvironment: {},
  onModelsChanged: () => undefined,
  onSick: (reason) => log.fatal(reason),
})
await engine.start()
announceReady({ engineId: config.engineId })
onShutdown(log, async () => void (await engine.drain(0)))
