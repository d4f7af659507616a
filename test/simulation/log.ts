import type { Logger } from '../../shared/telemetry/log.ts'

/** Returns a log that passes its warnings and errors to `say`, or drops everything without one. */
export function silentLog(say: ((line: string) => void) | undefined): Logger {
  const quiet = () => undefined
  const line =
    say &&
    ((fields: { err?: Error }, text: string) =>
      say(`${text}${fields.err ? ` (${fields.err.message})` : ''}`))
  const log = {
    trace: quiet,
    debug: quiet,
    info: quiet,
    warn: line ?? quiet,
    error: line ?? quiet,
    fatal: line ?? quiet,
    child: () => log,
  }
  return log as unknown as Logger
}
