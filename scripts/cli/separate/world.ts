import { ApiError, UnreachableError, type Status } from '../../../clients/typescript/node.ts'
import { called } from '../command-name.ts'
import type { Output } from './progress-view.ts'

/** The command's surroundings besides files and network. */
export interface World {
  env: Readonly<Record<string, string | undefined>>
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: Output
  stderr: Output
  /** Fires on Ctrl-C. */
  signal: AbortSignal
}

/** Printed with `--quiet` too. */
export const secretLine = (secret: string): string =>
  `webhook signing secret, shown only now: ${secret}`

/** An error as a line for people. */
export function describe(error: unknown): string {
  if (error instanceof ApiError) {
    return `${error.code}: ${error.message}${error.param ? ` (${error.param})` : ''}`
  }
  if (error instanceof UnreachableError) {
    return `${error.message} Is the service running? Start it with: ${called('start')}`
  }
  return error instanceof Error ? error.message : String(error)
}

/** The service's log of a request. */
export type Logs = NonNullable<Status['logs']>

/** A line for each. @param of what all begin with, such as the name of the file */
export function printLogs({ stderr }: World, logs: Logs, of = ''): void {
  for (const { timestamp, message } of logs) stderr.write(`${of}${timestamp} ${message}\n`)
}
