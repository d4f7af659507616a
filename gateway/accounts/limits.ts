/** The limits of an account: those that an admin has set for it, or else those of the settings. */

import type { Priority } from '../../shared/priority.ts'
import type { Settings } from '../config.ts'
import {
  LIMIT_NAMES,
  type AccountRow,
  type LimitColumns,
  type LimitName,
} from '../store/schema/tables.ts'

/** Settings that apply to accounts without limits of their own; 0 means no limit. */
export type LimitDefaults = Settings<
  | 'rateLimitPerMinute'
  | 'queueMaxPerAccount'
  | 'jobsMaxPerAccount'
  | 'mediaBytesMaxPerAccount'
  | 'monthSecondsMaxPerAccount'
  | 'streamsMaxPerAccount'
  | 'fileBytesMax'
>

export interface Limit {
  name: LimitName
  /** Infinity if there is no limit. */
  max: number
  /** Whose limit it is; a refusal says so. */
  of: 'account' | 'service'
}

/**
 * Returns the account's own limit, or else that of the settings.
 * @param byDefault the limit in the settings; 0 means none
 */
export function limitOf(account: Partial<LimitColumns>, name: LimitName, byDefault: number): Limit {
  const ownLimit = account[`max_${name}`] ?? null
  if (ownLimit !== null) return { name, max: ownLimit, of: 'account' }
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

/** Returns the end of a refusal, which names the limit and says whose it is. */
export const limitText = ({ name, of }: { name: LimitName; of: Limit['of'] | 'key' }): string =>
  `(limit ${name} of ${of === 'service' ? 'every account' : `this ${of}`})`

/** Returns what an admin has set for an account; null where the settings apply. */
export const ownLimits = (account: SetLimits) => ({
  ...(Object.fromEntries(LIMIT_NAMES.map((name) => [name, account[`max_${name}`]])) as Record<
    LimitName,
    number | null
  >),
  priority: account.own_priority,
})

/** The columns of an account that an admin sets as its limits. */
type SetLimits = LimitColumns & Pick<AccountRow, 'own_priority'>

/** Returns the columns for `limits`; those left out are null, so that the settings apply. */
export const limitColumns = ({
  priority,
  ...limits
}: Partial<Record<LimitName, number>> & { priority?: Priority }): SetLimits => ({
  ...(Object.fromEntries(
    LIMIT_NAMES.map((name) => [`max_${name}`, limits[name] ?? null]),
  ) as unknown as LimitColumns),
  own_priority: priority ?? null,
})
