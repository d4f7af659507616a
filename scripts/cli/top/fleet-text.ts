/** The fleet as text for a terminal. */

import type { Fleet as FullFleet, FleetEngine } from '../../../gateway/operations/fleet.ts'
import { ratesOf } from '../../../shared/engine-rates.ts'
import { printed } from '../admin/print.ts'

type Fleet = Pick<FullFleet, 'at' | 'engines' | 'queue' | 'failures'>

/** @param before an earlier look: rates are of the time between; without it of all time */
export function fleetText(fleet: Fleet, before?: Fleet): string {
  const { at, queue, engines, failures } = fleet
  const { waiting, oldest_seconds: oldest, in_progress, jobs_to_hand_over, webhooks_due } = queue
  return [
    `Winnow at ${at}\n`,
    `${waiting} waiting (the oldest for ${Math.round(oldest)} s), ${in_progress} in progress, ` +
      `${jobs_to_hand_over} jobs to hand over, ${webhooks_due} webhooks due\n`,
    `\nEngines: ${table(engines.map((engine) => engineRow(engine, fleet, before)))}`,
    `\nLast failures: ${table(failures.map(failureRow))}`,
  ].join('')
}

/** Below its heading, or `none` next to it. */
function table(data: object[]): string {
  const text = printed({ object: 'list', data })
  return data.length === 0 ? text : `\n${text}`
}

function engineRow(engine: FleetEngine, { at }: Fleet, before: Fleet | undefined): object {
  const { busy, audio, fill } = ratesOf(engine, at, before)
  return {
    ENGINE: engine.engine_id,
    VERSION: engine.version,
    MODEL: engine.model,
    DEVICE: engine.device,
    STATE: engine.state,
    JOBS: `${engine.jobs}/${engine.jobs_max}`,
    LANES: engine.lanes,
    FILL: percent(fill),
    'AUDIO S/S': audio.toFixed(1),
    BUSY: percent(busy),
    MEMORY: `${Math.round(engine.memory_bytes / 2 ** 20)} MiB`,
  }
}

const percent = (share: number | null): string =>
  share === null ? '' : `${Math.round(Math.min(share, 1) * 100)} %`

const failureRow = (failure: Fleet['failures'][number]): object => ({
  AT: failure.failed_at,
  CODE: failure.code,
  REQUEST: failure.request_id,
  ENGINE: failure.engine_id,
  MESSAGE: failure.message,
})
