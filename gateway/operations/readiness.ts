/** Checks whether this gateway can accept requests now, and whether an engine can serve them. */

import { isoTime, type Clock } from '../../shared/clock.ts'
import { differenceOf } from '../requests/present/loaded-models.ts'
import { isOfFullDisk, probeWrite } from '../store/driver/write-probe.ts'
import type { Broker } from '../../shared/broker/broker.ts'
import type { Logger } from '../../shared/telemetry/log.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import type { Store } from '../store/database.ts'
import type { EngineRegistry } from './engine-registry.ts'

export interface ReadinessDeps {
  store: Store
  broker: Pick<Broker, 'problem'>
  mediaStore: MediaStore
  engineRegistry: Pick<EngineRegistry, 'engines' | 'lastDescriptions'>
  clock: Clock
  log: Logger
}

/**
 * When it is `degraded`, requests are accepted, but they wait for an engine or for space on the
 * disk, or the model that answers them depends on the engine.
 */
export interface Readiness {
  status: 'ready' | 'degraded' | 'unavailable'
  database: boolean
  broker: boolean
  engines: number
  /** Why it is not ready, in a sentence each. */
  problems: string[]
}

/** A result is reused for this long, so that frequent checks do not cause more disk flushes. */
const AGE_MS_MAX = 1_000

export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  const { clock, broker, engineRegistry } = deps
  let probe: { at: number; disks: Promise<Disks> } | undefined
  return async () => {
    const now = clock.elapsed()
    if (!probe || now - probe.at >= AGE_MS_MAX) probe = { at: now, disks: probeDisks(deps) }
    const { database, media } = await probe.disks
    const [away, { engines }] = [broker.problem(), engineRegistry]
    const severe = [database, away].filter((problem) => problem !== null)
    const difference = differenceOf(engineRegistry.lastDescriptions())
    const mild = [media, engines === 0 ? NO_ENGINE : null, difference].filter(
      (problem) => problem !== null,
    )
    return {
      status: severe.length > 0 ? 'unavailable' : mild.length > 0 ? 'degraded' : 'ready',
      database: database === null,
      broker: away === null,
      engines,
      problems: [...severe, ...mild],
    }
  }
}

const NO_ENGINE = 'No engine is there: requests wait for one.'
const NO_ROOM =
  'The disk of DATA_DIR has less free than DISK_FREE_MB_MIN: uploads and results are refused.'

/** The problem of each, or null. */
interface Disks {
  database: string | null
  media: string | null
}

async function probeDisks({ store, mediaStore, clock, log }: ReadinessDeps): Promise<Disks> {
  const database = probeWrite(store, isoTime(clock.now())).then(
    () => null,
    (error: unknown) => {
      log.error({ err: error }, 'the database takes no writes')
      return isOfFullDisk(error)
        ? 'The database takes no writes: its disk is full.'
        : 'The database is away, or takes no writes.'
    },
  )
  const media = mediaProblem(mediaStore, log)
  return { database: await database, media: await media }
}

async function mediaProblem(mediaStore: MediaStore, log: Logger): Promise<string | null> {
  if (mediaStore.kind !== 'local disk') return null
  try {
    return (await mediaStore.hasRoom()) ? null : NO_ROOM
  } catch (error) {
    log.error({ err: error }, 'the folder of media cannot be read')
    return 'The folder of media cannot be read: uploads and results are refused.'
  }
}
