/** Which jobs are short, and of which lengths accounts have jobs with the broker. */

import { sql, type SqlBool } from 'kysely'
import type { Store } from './database.ts'
import { UNFINISHED } from './requests.ts'

/** Media that are no longer make a short job. */
const SHORT_SECONDS = 60
/**
 * Bytes of a file whose media were not measured yet, and that is taken for a short one: a minute of
 * usual quality. An estimate that is wrong costs a place: engines bound those of short jobs too.
 */
const SHORT_BYTES = { uncompressed: 10_000_000, video: 20_000_000, other: 1_000_000 }
const UNCOMPRESSED = ['audio/%wav%', 'audio/%aif%', 'audio/%flac%']

/** Whether a row of `requests` is short. What is at an `audio_url` is not, until it is measured. */
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

/** Whether an account has unfinished requests of each length whose jobs are with the broker. */
interface JobsInBroker {
  short: boolean
  long: boolean
  /** The account's own limit of all of them. */
  max_concurrent_jobs: number | null
}

/** By account, of those in the list. */
export async function jobsInBroker(
  store: Store,
  accountIds: readonly string[],
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

/** How many unfinished requests of an account have a job with the broker, up to `most`. */
export async function countJobs(store: Store, accountId: string, most: number): Promise<number> {
  const jobs = store
    .selectFrom('requests')
    .select('request_id')
    .where('account_id', '=', accountId)
    .where('status', 'in', UNFINISHED)
    .where('job_sequence', 'is not', null)
    .limit(most)
    .as('jobs')
  const { count } = await store
    .selectFrom(jobs)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
