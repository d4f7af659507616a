/** Ports of `npm start` that no setting names: the usual ones, or the next that are free. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { portAfter, type Config } from '../../../gateway/config.ts'

/** Ports that are tried one after the other. */
const STEPS_MAX = 100

export interface StartPorts {
  grpc: number | 'off'
  metrics: number | 'off'
  /** One for each engine. */
  engineMetrics: readonly (number | 'off')[]
}

type Settings = Pick<
  Config,
  'gateways' | 'port' | 'grpcHost' | 'grpcPort' | 'metricsHost' | 'metricsPort' | 'adminPort'
>

/** @param engines how many */
export async function choosePorts(settings: Settings, engines: number): Promise<StartPorts> {
  const { gateways, port, grpcHost, grpcPort, metricsHost, metricsPort, adminPort } = settings
  const chosen = new Set<unknown>([port, grpcPort, metricsPort, adminPort])
  const nextFree = async (host: string, first: number): Promise<number> => {
    for (let nth = 0; nth < STEPS_MAX; nth += 1) {
      const next = portAfter(first, nth)
      if (next !== 0 && (chosen.has(next) || !(await isFree(host, next)))) continue
      chosen.add(next)
      return next
    }
    return first // the process that can't listen there says why
  }
  const grpc = grpcPort ?? (await nextFree(grpcHost, portAfter(port, 1)))
  const metrics = metricsPort ?? (await nextFree(metricsHost, portAfter(port, 1_000)))
  const engineMetrics: (number | 'off')[] = []
  for (let nth = 1; nth <= engines; nth += 1) {
    const next =
      metrics === 'off'
        ? metrics
        : await nextFree(metricsHost, portAfter(metrics, gateways - 1 + nth))
    engineMetrics.push(next)
  }
  return { grpc, metrics, engineMetrics }
}

async function isFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
