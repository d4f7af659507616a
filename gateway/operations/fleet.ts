/** Describes the fleet at a glance, for admins: engines, queue, and what failed last. */

import { Type, type Static } from 'typebox'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { loadedModels } from '../requests/present/loaded-models.ts'
import { heldMedia } from '../store/accounts.ts'
import { Count, DateTime, Nullable } from '../api/schemas.ts'
import { WebhookAttempt } from '../api/webhook-schemas.ts'
import { latestAttempts } from '../store/delivery-attempts.ts'
import { latestFailures } from '../store/requests.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import { countWork } from '../store/work-counts.ts'
import type { EngineRegistry } from './engine-registry.ts'
import type { MediaStore } from '../media-store/media-store.ts'
import type { Store } from '../store/database.ts'

const FAILURES_SHOWN = 10
const ATTEMPTS_SHOWN = 10

const Seconds = Type.Number({ minimum: 0 })

const FleetEngine = Type.Object({
  engine_id: Type.String(),
  version: Type.String(),
  model: Type.String(),
  device: Type.String(),
  state: Type.Enum(['READY', 'BUSY', 'DRAINING', 'PAUSED']),
  started_at: DateTime,
  jobs: Count,
  jobs_max: Count,
  lanes: Count,
  batch_frames_max: Count,
  steps_total: Count,
  frames_total: Type.Integer({ minimum: 0, description: 'Frames of all lanes in all steps.' }),
  busy_seconds_total: Seconds,
  audio_seconds_total: Type.Number({ minimum: 0, description: 'Seconds of media separated.' }),
  memory_bytes: Count,
})

const Failure = Type.Object({
  request_id: Type.String(),
  engine_id: Nullable(Type.String()),
  failed_at: DateTime,
  code: Type.String(),
  message: Type.String(),
})

const FleetModel = Type.Object({
  name: Type.String(),
  summary: Type.String(),
  parameters: Count,
  weights_sha256: Type.String(),
  licence: Type.String({ description: 'Licence of its weights; empty if unknown.' }),
  engines: Type.Integer({ minimum: 1, description: 'Number of engines that hold it.' }),
})

const Storage = Type.Object({
  place: Type.String({ description: 'Where the media is.' }),
  held_bytes: Type.Integer({ minimum: 0, description: 'Files and outputs of all accounts.' }),
  reserved_bytes: Type.Integer({ minimum: 0, description: 'For outputs of unfinished requests.' }),
  free_bytes: Nullable(Type.Integer(), {
    description:
      'How much uploads may still take; if negative, they are refused; `null` for a bucket.',
  }),
})

export const Fleet = Type.Object(
  {
    at: DateTime,
    engines: Type.Array(FleetEngine),
    models: Type.Array(FleetModel),
    queue: Type.Object({
      waiting: Count,
      in_progress: Count,
      oldest_seconds: Type.Number({
        minimum: 0,
        description: 'Age of the oldest waiting request.',
      }),
      jobs_to_hand_over: Count,
      webhooks_due: Count,
    }),
    failures: Type.Array(Failure, { maxItems: FAILURES_SHOWN, description: 'Latest first.' }),
    webhook_attempts: Type.Array(WebhookAttempt, {
      maxItems: ATTEMPTS_SHOWN,
      description: 'Latest first.',
    }),
    storage: Storage,
  },
  { title: 'Fleet' },
)
export type Fleet = Static<typeof Fleet>
export type FleetEngine = Static<typeof FleetEngine>

export interface FleetDeps {
  store: Store
  engineRegistry: Pick<EngineRegistry, 'survey'>
  mediaStore: MediaStore
  clock: Clock
}

/** Returns the present state of the fleet, without engines that do not answer. */
export async function describeFleet({
  store,
  engineRegistry,
  mediaStore,
  clock,
}: FleetDeps): Promise<Fleet> {
  const now = clock.now()
  const [engines, work, failures, attempts, media, freeBytes] = await Promise.all([
    engineRegistry.survey(),
    countWork(store, isoTime(now)),
    latestFailures(store, FAILURES_SHOWN),
    latestAttempts(store, ATTEMPTS_SHOWN),
    heldMedia(store),
    mediaStore.kind === 'local disk' ? mediaStore.bytesLeft() : null,
  ])
  const oldestMs = work.oldestQueuedAt === null ? 0 : now - Date.parse(work.oldestQueuedAt)
  return {
    at: isoTime(now),
    engines: engines.map(presentEngine),
    models: modelsOf(engines),
    queue: {
      waiting: work.queued,
      in_progress: work.running,
      oldest_seconds: Math.max(0, oldestMs) / 1_000,
      jobs_to_hand_over: work.outbox,
      webhooks_due: work.webhooksDue,
    },
    failures: failures.map(presentFailure),
    webhook_attempts: attempts,
    storage: {
      place: mediaStore.place,
      held_bytes: media.held,
      reserved_bytes: media.reserved,
      free_bytes: freeBytes,
    },
  }
}

type EngineSurvey = Awaited<ReturnType<EngineRegistry['survey']>>[number]

const presentEngine = ({ description, stats }: EngineSurvey): FleetEngine => ({
  engine_id: description.engine_id,
  version: description.version,
  model: description.model.name,
  device: description.device,
  started_at: isoTime(description.started_at_ms),
  jobs_max: description.jobs_max,
  state: stats.state,
  jobs: stats.jobs,
  lanes: stats.lanes,
  batch_frames_max: stats.batch_frames_max,
  steps_total: stats.steps_total,
  frames_total: stats.frames_total,
  busy_seconds_total: stats.busy_seconds_total,
  audio_seconds_total: stats.audio_seconds_total,
  memory_bytes: stats.memory_bytes,
})

const modelsOf = (engines: readonly EngineSurvey[]) =>
  loadedModels(engines.map(({ description }) => description)).map((model) => ({
    name: model.name,
    summary: model.summary,
    parameters: model.parameters,
    weights_sha256: model.weights_sha256,
    licence: model.licence ?? '',
    engines: model.engineIds.length,
  }))

const presentFailure = (row: RequestRow) => ({
  request_id: row.request_id,
  engine_id: row.engine_id,
  failed_at: row.finished_at ?? row.updated_at,
  code: row.error_code ?? '',
  message: row.error_message ?? '',
})
