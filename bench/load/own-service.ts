/** Starts a service for a bench, on loopback, with the settings to measure. */

import { loadavg } from 'node:os'
import { createScope } from '../../test/support/processes/scope.ts'
import { API_KEY, startWinnow, type Winnow } from '../../test/support/processes/start-winnow.ts'

// Exits on a signal, so that the handler of `exit` below kills the services.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

export interface OwnService {
  winnow: Winnow
  apiKey: string
  end(): Promise<void>
}

/** @param env settings of gateway and engines */
export async function startOwnService(
  env: Readonly<Record<string, string>> = {},
): Promise<OwnService> {
  const scope = createScope()
  const winnow = await startWinnow(scope, { engines: 1, env: { QUEUE_MAX: '100000', ...env } })
  const kill = () => {
    for (const { child } of [winnow.gateway, ...winnow.engines]) child.kill('SIGKILL')
    winnow.nats.process.kill('SIGKILL')
  }
  process.once('exit', kill)
  return {
    winnow,
    apiKey: API_KEY,
    async end() {
      process.off('exit', kill)
      await scope.end()
    },
  }
}

/** The load average of the last minute; other work on the machine shows in every figure. */
export const load1 = (): number => Number((loadavg()[0] ?? 0).toFixed(2))
