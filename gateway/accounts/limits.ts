/**
 * What an account may have and do: as an operator has set it for the account, or as the settings
 * say. The one place that knows which of the two holds.
 */

import type { AccountRow, LimitColumns, LimitName } from '../store/schema/tables.ts'

export const LIMIT_NAMES = [
  'calls_per_minute',
  'queued_requests',
  'concurrent_jobs',
  'media_bytes',
  'seconds_per_month',
  'streams',
  'file_bytes',
] as const satisfies readonly LimitName[]

/** The settings of accounts without limits of their own. 0: no limit. */
export interface LimitDefaults {
  /** Calls of each key in a minute. */
  rateLimitPerMinute: number
  /** Requests that wait. */
  queueMaxPerAccount: number
  /** Requests whose jobs are with the broker or an engine. */
  jobsMaxPerAccount: number
  /** For files, outputs, and what is set aside for outputs. */
  mediaBytesMaxPerAccount: number
  /** Seconds of completed requests in a calendar month (UTC), as they are charged. */
  monthSecondsMaxPerAccount: number
  /** Status streams, and calls that wait, at one gateway. */
  streamsMaxPerAccount: number
  /** Of one uploaded file. */
  fileBytesMax: number
}

export interface Limit {
  name: LimitName
  /** Infinity: no limit. */
  max: number
  /** Who has it: a refusal says so. */
  of: 'account' | 'service'
}

/** @param byDefault by the settings; 0: no limit */
export function limitOf(account: Partial<LimitColumns>, name: LimitName, byDefault: number): Limit {
  const own = account[`max_${name}`] ?? null
  if (own !== null) return { name, max: own, of: 'account' }
  return { name, max: byDefault === 0 ? Infinity : byDefault, of: 'service' }
}

export const limitsOf = (account: AccountRow, config: LimitDefaults): Limit[] => {
  const byDefault: Record<LimitName, number> = {
    calls_per_minute: config.rateLimitPerMinute,
    queued_requests: config.queueMaxPerAccount,
    concurrent_jobs: config.jobsMaxPerAccount,
    media_bytes: config.mediaBytesMaxPerAccount,
    seconds_per_month: config.monthSecondsMaxPerAccount,
    streams: config.streamsMaxPerAccount,
    file_bytes: config.fileBytesMax,
  }
  return LIMIT_NAMES.map((name) => limitOf(account, name, byDefault[name]))
}

/** The end of a refusal: which limit it is, and whose. */
export const limitText = ({ name, of }: { name: LimitName; of: Limit['of'] | 'key' }): string =>
  `(limit ${name} of ${of === 'service' ? 'every account' : `this ${of}`})`

/** What an operator has set; null: as the settings say. */
export const ownLimits = (account: LimitColumns) =>
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, account[`max_${name}`]])) as Record<
    LimitName,
    number | null
  >

/** The columns that hold limits, of which those that are not given are as the settings say. */
export const limitColumns = (limits: Partial<Record<LimitName, number>>): LimitColumns =>
  Object.fromEntries(
    LIMIT_NAMES.map((name) => [`max_${name}`, limits[name] ?? null]),
  ) as unknown as LimitColumns
