/** Summarizes a campaign in figures. */

import { IS_OUTSIDE } from './faults.ts'
import { isEnd, type Ask, type DoneFault, type History } from './history.ts'

export interface Summary {
  seed: number
  commit: string
  database: string
  gateways: number
  seconds: number
  faults: number
  by_kind: Readonly<Record<string, number>>
  requests: number
  accepted: number
  ended: Readonly<Record<string, number>>
  webhooks: number
  /** From the end of a fault of the service to the first completion of a request submitted after it. */
  recover_ms: { n: number; p50: number; p99: number; most: number }
  ended_by_themselves: number
  violations: readonly string[]
  /** Folder of the logs, if there were violations. */
  logs?: string | undefined
}

type SummaryFields = Pick<
  Summary,
  'seed' | 'commit' | 'database' | 'gateways' | 'seconds' | 'violations' | 'logs'
>

export function summaryOf(history: History, fields: SummaryFields): Summary {
  const { asks, webhooks, faults, deaths } = history
  const times = recoveryTimes(history).sort((a, b) => a - b)
  const quantile = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)
  const { seed, commit, database, gateways, seconds, violations, logs } = fields
  return {
    seed,
    commit,
    database,
    gateways,
    seconds: Math.round(seconds),
    faults: faults.length,
    by_kind: count(faults.map(({ kind }) => kind)),
    requests: asks.length,
    accepted: asks.filter(({ requestIds }) => requestIds.length > 0).length,
    ended: count(asks.flatMap((ask) => outcomeOf(ask) ?? [])),
    webhooks: webhooks.length,
    recover_ms: { n: times.length, p50: quantile(0.5), p99: quantile(0.99), most: quantile(1) },
    ended_by_themselves: deaths.length,
    violations,
    ...(logs !== undefined && { logs }),
  }
}

function recoveryTimes({ faults, asks }: History): number[] {
  const completed = asks.flatMap((ask) => {
    const end = ask.statuses.find(({ status }) => status === 'COMPLETED')
    return end ? [{ submittedAt: ask.submittedAt, at: end.at }] : []
  })
  const timeOf = ({ endedAt }: DoneFault): number =>
    Math.min(
      ...completed.flatMap(({ submittedAt, at }) => (submittedAt >= endedAt ? [at - endedAt] : [])),
    )
  return faults
    .filter(({ kind }) => !IS_OUTSIDE.test(kind))
    .map(timeOf)
    .filter((ms) => Number.isFinite(ms))
}

function outcomeOf({ statuses, refusal }: Ask): string | undefined {
  const end = statuses.find(({ status }) => isEnd(status))
  return end ? (end.code ?? end.status) : refusal && `refused with ${refusal}`
}

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
