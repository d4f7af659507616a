/** Samples the resources of a campaign's processes, as CSV. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openTestDatabase } from '../support/database/test-database.ts'
import type { World } from './world.ts'

/** By column: `rss of gateway 0` and `disk` in MiB, `files of gateway 0` (open) and `rows` as counts. */
export type Sample = Readonly<Record<string, number>>

const TABLES = ['requests', 'files', 'deliveries', 'outbox', 'ledger', 'request_logs'] as const

/** Returns a function that takes a sample; it leaves out processes that are not running. */
export async function createSampler(
  t: { after(end: () => unknown): void },
  { processes, folder, disks, postgres }: World,
): Promise<() => Promise<Sample>> {
  const dataFolder = disks.gateway?.folder ?? folder
  const url = postgres?.urlOf('postgres')
  const store = await openTestDatabase({ folder: dataFolder, ...(url !== undefined && { url }) })
  t.after(() => store.destroy())
  const { broker, gateways, engines } = processes
  return async () => {
    const sample: Record<string, number> = {}
    for (const { name, pid } of [broker, ...gateways, ...engines]) {
      if (pid === undefined) continue
      sample[`rss of ${name}`] = rssOf(pid)
      sample[`files of ${name}`] = openFilesOf(pid)
    }
    const counts = TABLES.map((table) => sql`(select count(*) from ${sql.table(table)})`)
    const { rows } = await sql<{ n: number }>`select ${sql.join(counts, sql` + `)} as n`.execute(
      store,
    )
    sample.rows = Number(rows[0]?.n)
    sample.disk = Math.round(sizeOf(dataFolder) / 2 ** 20)
    return sample
  }
}

const rssOf = (pid: number): number => {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readProc(`/proc/${pid}/status`))?.[1]
  return Math.round(Number(kibibytes ?? 0) / 2 ** 10)
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has just exited
  }
}

function openFilesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0 // it has just exited
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => {
      const bytes = statSync(join(parentPath, name), { throwIfNoEntry: false })?.size
      return sum + (bytes ?? 0)
    }, 0)
}

export interface TimedSample {
  minutes: number
  sample: Sample
}

export function csvOf(samples: readonly TimedSample[]): string {
  const columns = [...new Set(samples.flatMap(({ sample }) => Object.keys(sample)))].sort()
  const lines = samples.map(({ minutes, sample }) =>
    [minutes.toFixed(2), ...columns.map((column) => sample[column] ?? '')].join(','),
  )
  return [['minutes', ...columns].join(','), ...lines, ''].join('\n')
}
