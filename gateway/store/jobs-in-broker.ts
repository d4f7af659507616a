/** Tells which jobs are short, and whether accounts have short or long jobs with the broker. */

import { sql, type SqlBool } from 'kysely'
import type { Priority } from '../../shared/priority.ts'
import type { Store } from './database.ts'
import { UNFINISHED } from './requests.ts'

/** Media up to this length makes a short job. */
const SHORT_SECONDS = 60
/**
 * A file up to this size counts as short until its media is measured: about a minute of usual
 * quality. A wrong estimate only costs a place, because engines limit their short jobs, too.
 */
const SHORT_BYTES = { uncompressed: 10_000_000, video: 20_000_000, other: 1_000_000 }
const UNCOMPRESSED = ['audio/%wav%', 'audio/%aif%', 'audio/%flac%']

/**
 * SQL that is true for a short row of `requests`. Media at an `audio_url` is not short until it is
 * measured.
 */
export const isShort = sql<SqlBool>`(
  requests.duration <= ${sql.lit(SHORT_SECONDS)}
  or requests.duration is null and exists (
    select 1 from files where files.file_id = requests.file_id and files.file_size <= case
      when files.content_type like 'video/%' then ${sql.lit(SHORT_BYTES.video)}
      when ${sql.join(
        UNCOMPRESSED.map((type) => sql`files.content_type like ${sql.lit(type)}`),
        sql` or `,
      )} then ${sql.lit(SHORT_BYTES.uncompressed)}
      else ${sql.lit(SHORT_BYTES.other)}
    end
  )
)`

/** Tells for each length if jobs of unfinished interactive requests are with the broker. */
interface JobsInBroker {
  short: boolean
  long: boolean
  /** The account's own limit on all of them. */
  max_concurrent_jobs: number | null
}

/** Returns this by account, for the accounts in the list, leaving out the requests `except`. */
export async function jobsInBroker(
  store: Store,
  accountIds: readonly string[],
  except: readonly string[] = [],
): Promise<Map<string, JobsInBroker>> {
  if (accountIds.length === 0) return new Map()
  const rows = await store
    .selectFrom('accounts')
    .select(['account_id', 'max_concurrent_jobs'])
    .select(({ exists, selectFrom }) => {
      const jobs = selectFrom('requests')
        .select('request_id')
        .whereRef('requests.account_id', '=', 'accounts.account_id')
        .where('status', 'in', UNFINISHED)
        .where('job_sequence', 'is not', null)
        .where('priority', '=', 'interactive')
        .$if(except.length > 0, (query) => query.where('request_id', 'not in', except))
      return [
        exists(jobs.where(isShort)).as('short'),
        exists(jobs.where(sql<SqlBool>`not coalesce(${isShort}, false)`)).as('long'),
      ]
    })
    .where('account_id', 'in', accountIds)
    .execute()
  return new Map(
    rows.map(({ account_id: accountId, short, long, max_concurrent_jobs }) => [
      accountId,
      { short: Boolean(short), long: Boolean(long), max_concurrent_jobs },
    ]),
  )
}

interface CountedJobs {
  priority?: Priority
  /** Leaves these requests out. */
  except?: readonly string[]
}

/**
 * Counts the unfinished requests of an account, or of one of its classes, that have a job with the
 * broker or a place for one, up to `most`.
 */
export async function countJobs(
  store: Store,
  accountId: string,
  most: number,
  { priority, except = [] }: CountedJobs = {},
): Promise<number> {
  const jobs = store
    .selectFrom('requests')
    .select('request_id')
    .where('account_id', '=', accountId)
    .where('status', 'in', UNFINISHED)
    .where('job_sequence', 'is not', null)
    .$if(priority !== undefined, (query) => query.where('priority', '=', priority!))
    .$if(except.length > 0, (query) => query.where('request_id', 'not in', except))
    .limit(most)
    .as('jobs')
  const { count } = await store
    .selectFrom(jobs)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The sequence of a job that has a place with the broker, but may not have been handed over. */
export const PLACE_TAKEN = 0

/** Takes a place with the broker for the job of each request, so that `countJobs` counts it. */
export async function takeBrokerPlaces(store: Store, requestIds: readonly string[]): Promise<void> {
  if (requestIds.length === 0) return
  await store
    .updateTable('requests')
    .set({ job_sequence: PLACE_TAKEN })
    .where('request_id', 'in', requestIds)
    .where('status', 'in', UNFINISHED)
    .where('job_sequence', 'is', null)
    .execute()
}

/** Gives back the place of a job that could not be handed over. */
export async function giveBrokerPlaceBack(store: Store, requestId: string): Promise<void> {
  await store
    .updateTable('requests')
    .set({ job_sequence: null })
    .where('request_id', '=', requestId)
    .where('job_sequence', '=', PLACE_TAKEN)
    .execute()
}
