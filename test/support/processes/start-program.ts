/** Starts a gateway or an engine as a process, for a test. */

import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { programArguments } from '../../../shared/process/programs.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * A folder that does not exist, so that models fetched by set-up on this machine do not affect
 * tests.
 */
const NO_MODEL = '/nowhere'

const LOG_LENGTH_MAX = 200_000

export type Environment = Readonly<Record<string, string>>

export interface Program {
  child: ChildProcess
  /** The settings that the program was started with, in addition to those of this process. */
  environment: Environment
  /** The details that the program announced when it became ready. */
  ready: Readonly<Record<string, string>>
  /** The latest that it has logged, from the start of a line. */
  log(): string
  /**
   * Sends the signal and waits until the process ends; returns its exit code, or the signal that
   * ended it.
   */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** A process that may not be ready yet. */
export type StartingProgram = Omit<Program, 'ready'> & {
  /** Rejects with the log if the process ends before it is ready. */
  ready: Promise<Program['ready']>
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>
}

/** @param path main file, relative to the root of `checkout`, which defaults to this one */
export function launchProgram(
  path: string,
  environment: Environment,
  checkout = ROOT,
): StartingProgram {
  const isOfTests = path.startsWith('test/')
  const words = isOfTests
    ? programArguments(pathToFileURL(join(checkout, path)))
    : ['scripts/run.mjs', path]
  const child = spawn(process.execPath, words, {
    cwd: checkout,
    env: { ...process.env, SONGS_MODEL_DIR: NO_MODEL, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let log = ''
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (text: Buffer) => {
      log += text.toString()
      if (log.length > LOG_LENGTH_MAX)
        log = log.slice(log.indexOf('\n', log.length - LOG_LENGTH_MAX) + 1)
    })
  }
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code ?? 0))
  })
  const ready = new Promise<Program['ready']>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Environment))
    child.once('exit', () => reject(new Error(`${path} did not start:\n${log}`)))
  })
  ready.catch(() => undefined) // callers that care await `ready` themselves
  return {
    child,
    environment,
    ready,
    ended,
    log: () => log,
    end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return ended
    },
  }
}
