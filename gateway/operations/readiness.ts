/** Whether this gateway can accept requests now, and whether an engine can serve them. */

import { isoTime } from '../../shared/clock.ts'
import type { Deps } from '../deps.ts'
import { canWrite } from '../store/write-probe.ts'

type ReadinessDeps = Pick<Deps, 'store' | 'broker' | 'engineRegistry' | 'clock' | 'log'>

/** Without an engine it is only degraded: accepted requests wait for one. */
export interface Readiness {
  status: 'ready' | 'degraded' | 'unavailable'
  database: boolean
  broker: boolean
  engines: number
}

/** A result is reused for so long, so that frequent checks cause no more disk flushes. */
const AGE_MS_MAX = 1_000

export function createReadiness({
  store,
  broker,
  engineRegistry,
  clock,
  log,
}: ReadinessDeps): () => Promise<Readiness> {
  let probe: { at: number; writable: Promise<boolean> } | undefined
  const probeDatabase = (now: number) =>
    canWrite(store, isoTime(now)).catch((error: unknown) => {
      log.error({ err: error }, 'the database takes no writes')
      return false
    })
  return async () => {
    const now = clock.now()
    if (!probe || now - probe.at >= AGE_MS_MAX) probe = { at: now, writable: probeDatabase(now) }
    const [database, connected, engines] = [
      await probe.writable,
      broker.isConnected(),
      engineRegistry.engines,
    ]
    const status = !database || !connected ? 'unavailable' : engines === 0 ? 'degraded' : 'ready'
    return { status, database, broker: connected, engines }
  }
}
