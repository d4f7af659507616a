/** Starts and ends a process: announces when it is ready, and stops once, in order, on request. */

import { createLogger, type Logger } from '../telemetry/log.ts'
import { SettingsError } from './settings.ts'

/** Says why a process cannot start and what would be right; shown without a stack. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}

/** Returns `load()`; on a SettingsError, the process exits with only its message. */
export function settingsOrEnd<T>(name: string, load: () => T): T {
  try {
    return load()
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    createLogger(name, 'fatal').fatal(error.message)
    process.exit(1)
  }
}

/** Awaits `starting`; on a StartError, the process exits with that one line. */
export async function startOrEnd<T>(log: Logger, starting: Promise<T>): Promise<T> {
  try {
    return await starting
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    log.fatal(error.message)
    process.exit(1)
  }
}

/** Remedies by the error code for a folder that cannot be written to. */
const DISK_REMEDIES: Readonly<Record<string, string>> = {
  ...remedies('Free space on its disk.', ['ENOSPC', 'EDQUOT', 'SQLITE_FULL']),
  ...remedies('Its disk can only be read: name a folder on another.', ['EROFS']),
  ...remedies('Run Winnow as the user who owns the folder, or give it to this one.', [
    'EACCES',
    'EPERM',
  ]),
  ...remedies('Name a folder that is there, or whose disk is.', [
    'ENOENT',
    'ENOTDIR',
    'EEXIST',
    'ELOOP',
    'ENAMETOOLONG',
    'ENODEV',
  ]),
}

function remedies(remedy: string, codes: readonly string[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, remedy]))
}

/**
 * Awaits `working`.
 * @param place the setting that names the folder in use, and the folder
 * @throws StartError if the folder cannot be written to; otherwise whatever `working` throws
 */
export async function onDisk<T>(place: string, working: Promise<T>): Promise<T> {
  try {
    return await working
  } catch (cause) {
    for (const error of [cause, (cause as Error).cause]) {
      const remedy = DISK_REMEDIES[String((Object(error) as { code?: unknown }).code)]
      if (remedy === undefined) continue
      const message = `${place} takes no files (${(error as Error).message}). ${remedy}`
      throw new StartError(message, { cause })
    }
    throw cause
  }
}

/**
 * Runs `stop` once, on SIGTERM, SIGINT or the end of the parent process that started this one with
 * an IPC channel. Then exits, with 0 if it resolved and 1 if it rejected.
 */
export function onShutdown(log: Logger, stop: (reason: string) => Promise<void>): void {
  let stopping = false
  const begin = (reason: string) => {
    if (stopping) return
    stopping = true
    log.info({ reason }, 'is stopping')
    stop(reason).then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'could not stop cleanly')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', () => begin('SIGTERM'))
  process.on('SIGINT', () => begin('SIGINT'))
  process.on('disconnect', () => begin('parent ended'))
  if (process.connected === false) begin('parent ended') // while we were starting
}

/**
 * Tells the parent process, if there is an IPC channel, that this one is ready; `details` contains
 * its addresses.
 */
export function announceReady(details: Readonly<Record<string, string>>): void {
  process.send?.({ ready: true, ...details })
}
