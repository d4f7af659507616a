import type { Status } from '../../../clients/typescript/node.ts'
import type { CommandIo } from '../command.ts'
import type { Output, Writer } from './status-line.ts'

/** Sound may go to standard output, and a bar to standard error. */
export interface SeparateIo extends CommandIo {
  stdout: Output
  stderr: Output
}

/** For results and messages. */
export interface Lines {
  stdout: Writer
  stderr: Writer
}

/** Printed even with `--quiet`. */
export const secretLine = (secret: string): string =>
  `webhook signing secret, shown only now: ${secret}`

/** The service's log of a request. */
export type Logs = NonNullable<Status['logs']>

/**
 * Prints a line for each entry.
 * @param of prefix of all lines, such as the name of the file
 */
export function printLogs({ stderr }: Lines, logs: Logs, of = ''): void {
  for (const { timestamp, message } of logs) stderr.write(`${of}${timestamp} ${message}\n`)
}
