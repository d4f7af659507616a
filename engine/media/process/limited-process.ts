/**
 * Work on strangers' media, in a process of its own. A file's cost shows only while it is read, and
 * native code's memory can be limited for a whole process only. A file may also make native code
 * run what it contains: so the process reads and writes nothing but media, has no network, and no
 * secrets in its environment.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AVERROR_ENOSPC } from 'node-av/constants'
import { type ErrorCode, ServiceError } from '../../../shared/errors.ts'
import {
  programArguments,
  programPlaces,
  programThreads,
} from '../../../shared/process/programs.ts'
import { COLLECT_LESS_OFTEN } from '../../garbage-collection.ts'
import { CallError } from '../ffmpeg.ts'
import { SANDBOX } from './sandbox-support.ts'

export interface ProcessLimits {
  /** Writable memory of the process, the stacks of its threads included. */
  bytesMax: number
  /** Per call. */
  secondsMax: number
  /** How far others go first on the processors, from 0 to 19. */
  niceness: number
}

/** Paths that the process may open besides its program, with all beneath. */
export interface ProcessFiles {
  reads?: readonly string[]
  writes?: readonly string[]
  /** A descriptor of memory to share, which the program has as `MEMORY`. */
  memory?: number
}

export interface ProcessCall<Task> {
  id: number
  task: Task
}

/** An error on its way to the caller; `code` is that of a ServiceError. */
export interface ErrorReport {
  message: string
  code?: ErrorCode
  isDiskFull: boolean
}

export type ProcessAnswer =
  | { ready: true }
  | { id: number; report: unknown }
  | { id: number; value: unknown }
  | { id: number; error: ErrorReport }

interface PendingCall {
  onReport(report: never): void
  resolve(value: never): void
  reject(error: unknown): void
}

/** Work took more than it may, or made its process crash. */
export class LimitError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'LimitError'
  }
}

export class LimitedProcess<Task> {
  readonly #child: ChildProcess
  readonly #limits: ProcessLimits
  readonly #pending = new Map<number, PendingCall>()
  #calls = 0
  #isReady = false
  /** Why there are no answers any more. */
  #end: unknown = null

  /**
   * @param program what it runs: a module that calls `answerCalls`
   * @param files must be there when it starts
   */
  constructor(program: URL, limits: ProcessLimits, files: ProcessFiles) {
    this.#limits = limits
    this.#child = startLimited(program, limits, files)
    // An idle one does not keep this process alive; a call does, by its timer.
    this.#child.unref()
    this.#child.channel?.unref()
    this.#child.on('message', (answer: ProcessAnswer) => this.#settle(answer))
    this.#child.on('error', (error) => this.close(error))
    this.#child.on('exit', (code, signal) => this.close(this.#causeOf(signal ?? `code ${code}`)))
  }

  get hasEnded(): boolean {
    return this.#end !== null
  }

  /**
   * @param onReport takes what the work reports on its way
   * @throws LimitError when the work takes too much or its process crashes; the reason with which
   * the process was closed; what the work throws: ServiceError, CallError for a full disk, Error
   */
  async call<T, Report = never>(
    task: Task,
    onReport: (report: Report) => void = () => {},
  ): Promise<T> {
    if (this.hasEnded) throw this.#end
    const id = ++this.#calls
    const { secondsMax } = this.#limits
    const late = () => this.close(new LimitError(`it takes longer than ${secondsMax} s`))
    const timer = setTimeout(late, secondsMax * 1_000)
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject, onReport })
        this.#child.send({ id, task } satisfies ProcessCall<Task>)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the process, whatever it does; calls that it has not answered end with `reason`. */
  close(reason: unknown = new Error('it was closed')): void {
    this.#end ??= reason
    this.#child.kill('SIGKILL')
    for (const { reject } of this.#pending.values()) reject(this.#end)
    this.#pending.clear()
  }

  #settle(answer: ProcessAnswer): void {
    if ('ready' in answer) {
      this.#isReady = true
      return
    }
    const pending = this.#pending.get(answer.id)
    if ('report' in answer) {
      pending?.onReport(answer.report as never)
      return
    }
    this.#pending.delete(answer.id)
    if ('value' in answer) pending?.resolve(answer.value as never)
    else pending?.reject(errorOf(answer.error))
  }

  /** It is not the work's fault when the process cannot start, nor when this machine kills it. */
  #causeOf(how: string): Error {
    if (!this.#isReady) return new Error(`its process ended before it was ready (${how})`)
    if (how === 'SIGKILL') return new Error('its process was killed')
    const mebibytes = Math.floor(this.#limits.bytesMax / 2 ** 20)
    return new LimitError(`it takes more than ${mebibytes} MiB of memory, or is damaged (${how})`)
  }
}

function errorOf({ message, code, isDiskFull }: ErrorReport): Error {
  if (code) return new ServiceError(code, { message })
  return isDiskFull ? new CallError(AVERROR_ENOSPC, 'write the video') : new Error(message)
}

/**
 * Sets the limit, in kilobytes of data, and becomes the rest of its arguments. A limit of addresses
 * would be of no use: V8 reserves far more than it uses. Node would read from the descriptor of its
 * IPC at once: the sandbox must not, since it only becomes the program whose calls they are.
 */
const LIMITED =
  'unset NODE_CHANNEL_FD && ulimit -c 0 && ulimit -d "$1" && shift && exec nice -n "$@"'

/** The third after standard input, output and error: see `stdio`. */
const CHANNEL = 3
export const MEMORY = 4

/**
 * From Node 24 on V8 maps 512 MiB for its code in a way that counts as data from the start, for
 * each thread that runs JavaScript.
 */
const CODE_BYTES = Number(process.versions.node.split('.')[0]) >= 24 ? 512 * 2 ** 20 : 0

/** Its environment is empty: it has to do with strangers' files, and with no secrets. */
function startLimited(
  program: URL,
  { bytesMax, niceness }: ProcessLimits,
  { reads = [], writes = [], memory }: ProcessFiles,
): ChildProcess {
  const descriptors = { channel: CHANNEL, ...(memory !== undefined && { memory: MEMORY }) }
  const options = { reads: [...programFiles(program), ...reads], writes, ...descriptors }
  const node = [process.execPath, COLLECT_LESS_OFTEN, ...programArguments(program)]
  const sandboxed = [process.execPath, SANDBOX, JSON.stringify(options), ...node]
  const kibibytes = Math.floor((bytesMax + programThreads(program) * CODE_BYTES) / 1_024)
  const limits = [kibibytes, niceness].map(String)
  return spawn('/bin/sh', ['-c', LIMITED, 'sh', ...limits, ...sandboxed], {
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', memory ?? 'ignore'],
    serialization: 'advanced',
  })
}

/** Node, the system's libraries, and the program with the packages that it imports. */
function programFiles(program: URL): string[] {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  return [
    ...[process.execPath, '/usr', '/lib', '/lib64', '/etc/ld.so.cache', '/dev/null'],
    ...['node_modules', 'package.json'].map((name) => join(root, name)),
    ...programPlaces(program),
  ]
}
