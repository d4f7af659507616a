/** Checks whether the gateway answers on its ports, or they are free. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { portAfter, type Config } from '../../../../gateway/config.ts'
import { hostAndPort, localUrl } from '../../../../shared/local-url.ts'
import type { Context } from '../context.ts'
import { failure, okFinding, warning, type Finding } from '../finding.ts'

const MS_MAX = 5_000

interface Readiness {
  status: 'ready' | 'degraded' | 'unavailable'
  engines: number
  problems: readonly string[]
}

export async function checkPorts({ gateway }: Context): Promise<Finding[]> {
  if (!gateway) return []
  const readiness = await readReadiness(localUrl(gateway.host, gateway.port))
  const ports = await Promise.all(
    portsOf(gateway).map(([name, host, port]) => portFinding(name, host, port, readiness !== null)),
  )
  return readiness ? [readinessFinding(readiness, gateway), ...ports.slice(1)] : ports
}

/** HTTP first; ports that are off or chosen at random are left out. */
function portsOf(gateway: Config): [string, string, number][] {
  const { grpcPort = portAfter(gateway.port, 1), metricsPort = portAfter(gateway.port, 1_000) } =
    gateway
  const all: [string, string, number | 'off'][] = [
    ['port http', gateway.host, gateway.port],
    ['port grpc', gateway.grpcHost, grpcPort],
    ['port metrics', gateway.metricsHost, metricsPort],
    ['port admin', gateway.adminHost, gateway.adminPort],
  ]
  return all.filter(
    (each): each is [string, string, number] => typeof each[2] === 'number' && each[2] > 0,
  )
}

/** Null if no gateway answers. */
async function readReadiness(url: string): Promise<Readiness | null> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(MS_MAX) })
    const body = (await response.json()) as Partial<Readiness>
    return 'engines' in body && 'problems' in body ? (body as Readiness) : null
  } catch {
    return null // nothing or another program; the check of the port says which
  }
}

function readinessFinding({ status, engines, problems }: Readiness, { host, port }: Config) {
  const found = `at ${localUrl(host, port)}: ${status}, engines: ${engines}`
  if (status === 'ready') return okFinding('gateway', found)
  const finding = status === 'degraded' ? warning : failure
  const remedy = 'See docs/how-to/troubleshooting.md.'
  return finding('gateway', `${found}. ${problems.join(' ')}`, remedy)
}

async function portFinding(
  name: string,
  host: string,
  port: number,
  gatewayAnswers: boolean,
): Promise<Finding> {
  const server = createServer()
  const place = hostAndPort(host, port)
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening')
    if (!gatewayAnswers) return okFinding(name, `${place} is free`)
    return warning(name, `nobody listens at ${place}`, 'The gateway has another port there.')
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' && gatewayAnswers) return okFinding(name, `${place} is in use`)
    const found = code === 'EADDRINUSE' ? `another program listens at ${place}` : message
    return failure(name, found, 'End it, or give the gateway another port.')
  } finally {
    server.close()
  }
}
