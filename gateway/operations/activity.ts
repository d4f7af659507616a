/** Describes what the installation did in the last day, by hour, for charts of the admin page. */

import { setImmediate as nextRound } from 'node:timers/promises'
import { Type, type Static } from 'typebox'
import { isoTime, type Clock } from '../../shared/clock.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import { Count, DateTime, Nullable } from '../api/schemas.ts'
import type { Store } from '../store/database.ts'
import { countEnded } from '../store/activity.ts'

const HOURS = 24

export interface ActivityDeps {
  store: Store
  clock: Clock
}

const Hour = Type.Object(
  {
    start: DateTime,
    completed: Count,
    failed: Type.Integer({ minimum: 0, description: 'Without canceled requests.' }),
    canceled: Count,
    audio_seconds: Type.Number({
      minimum: 0,
      description: 'Seconds of media of completed requests.',
    }),
    waiting_seconds: Nullable(Type.Number({ minimum: 0 }), {
      description:
        'Average time from submit to the start of the last attempt; `null` if no request that ' +
        'ended had started.',
    }),
  },
  { title: 'ActivityHour', description: 'The requests that ended in an hour and are not deleted.' },
)

export const Activity = Type.Object(
  {
    at: DateTime,
    hours: Type.Array(Hour, {
      minItems: HOURS,
      maxItems: HOURS,
      description: 'Hours in UTC, oldest first; the last one is not over yet.',
    }),
  },
  { title: 'Activity' },
)
export type Activity = Static<typeof Activity>

/**
 * Requests are counted again only after this long, however many pages ask, because a day may have
 * 100,000.
 */
const COUNTED_MS_MAX = 30_000

/**
 * Returns a function that describes the last day, as it was at most half a minute ago. All gateways
 * count the same requests.
 */
export function createActivity(deps: ActivityDeps): () => Promise<Activity> {
  let last: { at: number; activity: Promise<Activity> } | undefined
  return () => {
    const at = deps.clock.elapsed()
    if (last && at - last.at < COUNTED_MS_MAX) return last.activity
    const activity = describeActivity(deps).catch((error: unknown) => {
      last = undefined
      throw error
    })
    last = { at, activity }
    return activity
  }
}

async function describeActivity({ store, clock }: ActivityDeps): Promise<Activity> {
  const now = clock.now()
  const first = HOUR_MS * (Math.floor(now / HOUR_MS) - HOURS + 1)
  const hours: Static<typeof Hour>[] = []
  for (let i = 0; i < HOURS; i++) {
    hours.push(await describeHour(store, first + i * HOUR_MS))
    await nextRound() // SQLite counts in this thread
  }
  return { at: isoTime(now), hours }
}

/** @param startMs epoch milliseconds */
async function describeHour(store: Store, startMs: number): Promise<Static<typeof Hour>> {
  const [from, before] = [isoTime(startMs), isoTime(startMs + HOUR_MS)]
  const counts = await countEnded(store, { from, before })
  const { completed, failed, canceled, audioSeconds, waitingSeconds } = counts
  return {
    start: from,
    completed,
    failed,
    canceled,
    audio_seconds: audioSeconds,
    waiting_seconds: waitingSeconds === null ? null : Math.max(0, waitingSeconds),
  }
}
