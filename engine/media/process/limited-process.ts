/**
 * Handles media of strangers in a process of its own. What a file costs shows only while it is
 * read, and the memory of native code can only be limited for a whole process. A file may even make
 * native code run what it contains. So the process can read and write nothing but media, and has no
 * network and no secrets in its environment.
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
import { FfmpegCallError } from '../ffmpeg.ts'
import { SANDBOX } from './sandbox-support.ts'

export interface ProcessLimits {
  /** Writable memory of the process, including the stacks of its threads. */
  bytesMax: number
  /** For each call. */
  secondsMax: number
  /** The process's niceness, from 0 to 19. */
  niceness: number
}

/** Paths that the process may open in addition to its program, including everything below. */
export interface ProcessFiles {
  reads?: readonly string[]
  writes?: readonly string[]
  /** A file descriptor of shared memory, which the program opens as `MEMORY`. */
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

/** The work exceeded a limit, or crashed its process. */
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
  /** Why no more answers will come. */
  #end: unknown = null

  /**
   * @param program the module to run, which calls `answerCalls`
   * @param files must exist when the process starts
   */
  constructor(program: URL, limits: ProcessLimits, files: ProcessFiles) {
    this.#limits = limits
    this.#child = startLimited(program, limits, files)
    // An idle process does not keep this one alive; a call does, with its timer.
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
   * @param onReport receives what the work reports in between
   * @throws LimitError if the work exceeds a limit or its process crashes; the reason for which the
   *   process was closed; whatever the work throws: ServiceError, FfmpegCallError for a full disk,
   *   Error
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

  /** Ends the process, whatever it is doing; unanswered calls reject with `reason`. */
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

  /** The work is not to blame if the process cannot start or this machine kills it. */
  #causeOf(how: string): Error {
    if (!this.#isReady) return new Error(`its process ended before it was ready (${how})`)
    if (how === 'SIGKILL') return new Error('its process was killed')
    const mebibytes = Math.floor(this.#limits.bytesMax / 2 ** 20)
    return new LimitError(`it takes more than ${mebibytes} MiB of memory, or is damaged (${how})`)
  }
}

function errorOf({ message, code, isDiskFull }: ErrorReport): Error {
  if (code) return new ServiceError(code, { message })
  return isDiskFull ? new FfmpegCallError(AVERROR_ENOSPC, 'write the video') : new Error(message)
}

/**
 * Sets the limit in kilobytes of data, and executes the rest of its arguments. A limit on the
 * address space would be useless, because V8 reserves far more than it uses. NODE_CHANNEL_FD is
 * unset because Node would otherwise start to read the calls, which are for the program that
 * replaces it.
 */
const LIMIT_SCRIPT =
  'unset NODE_CHANNEL_FD && ulimit -c 0 && ulimit -d "$1" && shift && exec nice -n "$@"'

/** The first descriptor after the standard three; see `stdio`. */
const CHANNEL = 3
/** The next one: the shared memory. */
export const MEMORY = 4

/**
 * From Node 24 on, V8 maps 512 MiB for code in a way that counts as data from the start, once for
 * each thread that runs JavaScript.
 */
const CODE_BYTES = Number(process.versions.node.split('.')[0]) >= 24 ? 512 * 2 ** 20 : 0

/** The environment is empty, because the process handles strangers' files and needs no secrets. */
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
  return spawn('/bin/sh', ['-c', LIMIT_SCRIPT, 'sh', ...limits, ...sandboxed], {
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', memory ?? 'ignore'],
    serialization: 'advanced',
  })
}

/** Node, system libraries, and the program with the packages that it imports. */
function programFiles(program: URL): string[] {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  return [
    ...[process.execPath, '/usr', '/lib', '/lib64', '/etc/ld.so.cache', '/dev/null'],
    ...['node_modules', 'package.json'].map((name) => join(root, name)),
    ...programPlaces(program),
  ]
}
