/**
 * A long-running process of ours under supervision: its log goes to a file, and it comes back when
 * it dies.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE_MS } from '../../../shared/durations.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import { programArguments } from '../../../shared/process/programs.ts'
import { keepLogSmall } from './log-rotation.ts'
import { fatalMessage, logSince, sizeOf } from './log-tail.ts'

const ROOT = new URL('../../../', import.meta.url)
/** Wait before a process that died comes back; doubled with each death, up to the most. */
const RESTART_MS = { least: 500, most: 30_000 }
/** A process that has lived so long starts with the shortest wait again. */
const SETTLED_MS = MINUTE_MS

export interface ServiceOptions {
  name: string
  /** Path of its main file from the root of the checkout. */
  program: string
  env: NodeJS.ProcessEnv
  logsFolder: string
  /** How long it may take to end when asked; then it is killed. */
  stopMs: number
}

export interface Service {
  name: string
  /** Its own words when it became ready: such as its `address`. */
  ready: Readonly<Record<string, string>>
  /** Asks it to end and waits. */
  stop(): Promise<void>
  kill(): void
}

/**
 * Resolves once the process has said that it is ready.
 * @throws StartError with its own reason, or the end of its log, when it dies before
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { name, logsFolder, stopMs } = options
  const logFile = join(logsFolder, `${name}.log`)
  keepLogSmall(logFile)
  const logStart = sizeOf(logFile)
  let child = launch(options, logFile)
  let stopping = false
  const ready = await untilReady(child, name, () => logSince(logFile, logStart))
  const watch = (waitMs: number) => {
    const startedAt = Date.now()
    const restart = async (code: number | null, signal: string | null) => {
      if (stopping) return
      const nextMs = Date.now() - startedAt > SETTLED_MS ? RESTART_MS.least : waitMs
      console.error(`The ${name} ended with ${signal ?? code}; starting it again. See ${logFile}`)
      await sleep(nextMs)
      if (stopping) return
      child = launch(options, logFile)
      watch(Math.min(nextMs * 2, RESTART_MS.most))
    }
    child.once('exit', (code, signal) => void restart(code, signal))
  }
  watch(RESTART_MS.least)
  return {
    name,
    ready,
    async stop() {
      stopping = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((done) => child.once('exit', done))
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
      await ended
      clearTimeout(killer)
    },
    kill() {
      stopping = true
      child.kill('SIGKILL')
    },
  }
}

/**
 * In a process group of its own, so that Ctrl-C reaches only us and the order of ending is ours.
 */
function launch({ program, env }: ServiceOptions, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, programArguments(new URL(program, ROOT)), {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return child
}

function untilReady(
  child: ChildProcess,
  name: string,
  log: () => string,
): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: { ready?: boolean } & Record<string, string>) => {
      if (message.ready) resolve(message)
    })
    child.once('exit', (code, signal) => {
      const why = fatalMessage(log()) ?? `it ended with ${signal ?? code}:\n${log().slice(-3_000)}`
      reject(new StartError(`The ${name} did not start. ${why}`))
    })
  })
}
