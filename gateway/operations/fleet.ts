/** The fleet at a glance, for operators: engines, queue, and what failed last. */

import { Type, type Static } from 'typebox'
import { isoTime } from '../../shared/clock.ts'
import type { Deps } from '../deps.ts'
import { latestFailures } from '../store/requests.ts'
import { countWork } from '../store/work-counts.ts'

const FAILURES_SHOWN = 10

const Count = Type.Integer({ minimum: 0 })
const Seconds = Type.Number({ minimum: 0 })
const DateTime = Type.String({ format: 'date-time' })

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
  frames_total: Type.Integer({ minimum: 0, description: 'Of all lanes, in all steps.' }),
  busy_seconds_total: Seconds,
  audio_seconds_total: Type.Number({ minimum: 0, description: 'Seconds of media separated.' }),
  memory_bytes: Count,
})

const Failure = Type.Object({
  request_id: Type.String(),
  engine_id: Type.Union([Type.String(), Type.Null()]),
  failed_at: DateTime,
  code: Type.String(),
  message: Type.String(),
})

export const Fleet = Type.Object(
  {
    at: DateTime,
    engines: Type.Array(FleetEngine),
    queue: Type.Object({
      waiting: Count,
      in_progress: Count,
      oldest_seconds: Type.Number({ minimum: 0, description: 'Age of the oldest that waits.' }),
      jobs_to_hand_over: Count,
      webhooks_due: Count,
    }),
    failures: Type.Array(Failure, { maxItems: FAILURES_SHOWN, description: 'Latest first.' }),
  },
  { title: 'Fleet' },
)
export type Fleet = Static<typeof Fleet>
export type FleetEngine = Static<typeof FleetEngine>

/** How the fleet stands now; without engines that do not answer. */
export async function describeFleet({
  store,
  engineRegistry,
  clock,
}: Pick<Deps, 'store' | 'engineRegistry' | 'clock'>): Promise<Fleet> {
  const now = clock.now()
  const [engines, work, failures] = await Promise.all([
    engineRegistry.survey(),
    countWork(store, isoTime(now)),
    latestFailures(store, FAILURES_SHOWN),
  ])
  const oldestMs = work.oldestQueuedAt === null ? 0 : now - Date.parse(work.oldestQueuedAt)
  return {
    at: isoTime(now),
    engines: engines.map(({ description, stats }) => ({
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
    })),
    queue: {
      waiting: work.queued,
      in_progress: work.running,
      oldest_seconds: Math.max(0, oldestMs) / 1_000,
      jobs_to_hand_over: work.outbox,
      webhooks_due: work.webhooksDue,
    },
    failures: failures.map((row) => ({
      request_id: row.request_id,
      engine_id: row.engine_id,
      failed_at: row.finished_at ?? row.updated_at,
      code: row.error_code ?? '',
      message: row.error_message ?? '',
    })),
  }
}
