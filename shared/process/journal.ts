/**
 * Writes log lines as entries of systemd's journal. The message is still the line of JSON, with
 * additional fields that `journalctl` can filter by.
 */

import { fstatSync, writeSync } from 'node:fs'
import { loadLibsystemd } from './libsystemd.ts'

/** Names in a log line, and their fields in the journal. */
const FIELDS = {
  requestId: 'WINNOW_REQUEST_ID',
  callId: 'WINNOW_CALL_ID',
  attemptId: 'WINNOW_ATTEMPT_ID',
  engineId: 'WINNOW_ENGINE_ID',
} as const

const STANDARD_OUTPUT = 1
/** Maps pino's levels to those of syslog, highest first; anything below is `debug`. */
const PRIORITIES: readonly (readonly [level: number, priority: number])[] = [
  [60, 2],
  [50, 3],
  [40, 4],
  [30, 6],
]
const DEBUG = 7

export interface LogDestination {
  write(line: string): void
}

/**
 * Returns the destination of a process's log: the journal, if systemd connected standard output to
 * it; otherwise undefined, for standard output.
 * @throws StartError if libsystemd is missing
 */
export async function journalDestination(
  env: Readonly<Record<string, string | undefined>>,
): Promise<LogDestination | undefined> {
  if (!env.JOURNAL_STREAM) return undefined
  const { dev, ino } = fstatSync(STANDARD_OUTPUT)
  if (env.JOURNAL_STREAM !== `${dev}:${ino}`) return undefined // it was redirected since
  const { sendToJournal } = await loadLibsystemd('JOURNAL_STREAM')
  return {
    write(line) {
      // systemd reads standard output too, so a line that the journal refuses is not lost
      if (sendToJournal(journalFields(line)) < 0) writeSync(STANDARD_OUTPUT, line)
    },
  }
}

/** Returns `NAME=value` for each field of a line's entry. */
export function journalFields(line: string): string[] {
  const entry = JSON.parse(line) as Record<string, unknown>
  const idFields = Object.entries(FIELDS).flatMap(([name, field]) =>
    typeof entry[name] === 'string' ? [`${field}=${entry[name]}`] : [],
  )
  const [, priority = DEBUG] = PRIORITIES.find(([level]) => Number(entry.level) >= level) ?? []
  const name = `SYSLOG_IDENTIFIER=winnow-${String(entry.name)}`
  return [`MESSAGE=${line.trimEnd()}`, `PRIORITY=${priority}`, name, ...idFields]
}
