/** Prints the result of each file and returns the exit code. */

import { AUTO } from '../../../shared/prompts/route-prompt.ts'
import { isSongHintFor, SONG_HINT } from '../../../shared/prompts/song-hint.ts'
import { describe } from '../service-access.ts'
import type { Arguments } from './arguments.ts'
import type { Item } from './outputs.ts'
import type { SeparatedMedia } from './separated.ts'
import { printLogs, type Lines, type Logs } from './separate-io.ts'

/**
 * Exit code of `--strict` if a sound was not found with certainty, or a skipped file is newer than
 * its outputs.
 */
const EXIT_NOT_FOUND = 3

export class Report {
  readonly #args: Arguments
  readonly #io: Lines
  readonly #all: number
  readonly #startedAt = performance.now()
  #separated = 0
  #there = 0
  #failed = 0
  #isMissed = false
  #hasHinted = false

  constructor(args: Arguments, io: Lines, all: number) {
    this.#args = args
    this.#io = io
    this.#all = all
  }

  /**
   * Reports a file that is skipped. Only the name tells what an earlier run found, for a target
   * that contains something other than its prompt.
   * @param isNewer whether the source was written after its outputs
   */
  there({ source, expected }: Item, files: readonly string[], isNewer: boolean): void {
    this.#there += 1
    this.#isMissed ||= isNewer
    if (isNewer) {
      this.#io.stderr.write(`${source}: newer than its outputs (--force separates it again)\n`)
    }
    const others = files.filter((file) => !expected.includes(file))
    this.#isMissed ||= others.length > 0
    for (const file of others) {
      this.#io.stderr.write(`${source}: the model did not know the prompt of ${file}\n`)
    }
    const newer = isNewer && { source_is_newer: true }
    if (this.#args.json) {
      this.#json({ source, state: 'there', files, ...newer, ...this.#logsOf([]) })
    } else if (!isNewer) this.#line(`${source}: already separated (--force separates it again)`)
  }

  separated(source: string, { result, files, logs, advice, elapsedSeconds }: SeparatedMedia): void {
    this.#separated += 1
    const missed = result.data.findings?.filter(({ state }) => state !== 'found') ?? []
    this.#isMissed ||= missed.length > 0
    const messages = [...missed.map(({ message }) => message), ...advice]
    for (const message of messages) this.#io.stderr.write(`${source}: ${message}\n`)
    this.#hint(result)
    if (this.#args.json) {
      const more = { ...result, files, elapsed_seconds: elapsedSeconds }
      return this.#json({ source, state: 'separated', ...more, ...this.#logsOf(logs) })
    }
    for (const path of namedFiles(files, result)) this.#line(path)
    this.#line(`${source}: ${speedOf(result.data.duration, elapsedSeconds)}`)
    if (!this.#args.quiet) this.#printLogs(source, logs)
  }

  failed(source: string, error: unknown, logs: Logs): void {
    this.#failed += 1
    const problem = describe(error)
    if (this.#args.json) {
      return this.#json({ source, state: 'failed', error: problem, ...this.#logsOf(logs) })
    }
    this.#io.stderr.write(`${source}: ${problem}\n`)
    this.#printLogs(source, logs)
  }

  /** Printed after the last of several files. */
  summary(): void {
    if (this.#args.isSingleFile || this.#args.quiet) return
    const left = this.#all - this.#separated - this.#there - this.#failed
    const parts = [
      `${this.#separated} separated`,
      ...(this.#there > 0 ? [`${this.#there} already separated`] : []),
      ...(this.#failed > 0 ? [`${this.#failed} failed`] : []),
      ...(left > 0 ? [`${left} not finished: run the same command again to continue`] : []),
    ]
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1)
    const files = countText(this.#all, 'file')
    this.#io.stderr.write(`${files} in ${seconds} s: ${parts.join(', ')}\n`)
  }

  get exitCode(): number {
    if (this.#failed > 0) return 1
    return this.#args.strict && this.#isMissed ? EXIT_NOT_FOUND : 0
  }

  /** Printed once for all files, unless a model was chosen. */
  #hint({ data: { separator, targets } }: SeparatedMedia['result']): void {
    const { quiet, prompts, submission } = this.#args
    if (quiet || this.#hasHinted || (submission.input.separator ?? AUTO) !== AUTO) return
    const makers = targets?.map((target) => target.separator) ?? [separator]
    if (!prompts.some((prompt, i) => isSongHintFor(prompt, makers[i]))) return
    this.#hasHinted = true
    this.#io.stderr.write(`${SONG_HINT}\n`)
  }

  #line(text: string): void {
    if (!this.#args.quiet) this.#io.stdout.write(`${text}\n`)
  }

  #json(object: object): void {
    this.#io.stdout.write(`${JSON.stringify(object)}\n`)
  }

  #logsOf(logs: Logs): { logs?: Logs } {
    return this.#args.logs ? { logs } : {}
  }

  #printLogs(source: string, logs: Logs): void {
    if (this.#args.logs) printLogs(this.#io, logs, `${source}: `)
  }
}

/** The paths of the files, without the rest if no sound was heard: it is nearly the source then. */
function namedFiles(files: SeparatedMedia['files'], { data }: SeparatedMedia['result']): string[] {
  const { findings = [] } = data
  const isWhole = findings.length > 0 && findings.every(({ state }) => state === 'absent')
  const named = Object.entries(files).filter(([role]) => !isWhole || !role.startsWith('residual'))
  return named.map(([, path]) => path)
}

/** For example `1 file`, `2 files`. */
export const countText = (count: number, thing: string): string =>
  `${count} ${thing}${count === 1 ? '' : 's'}`

function speedOf(duration: number | undefined, elapsedSeconds: number): string {
  const elapsed = `${elapsedSeconds.toFixed(1)} s`
  if (duration === undefined) return `separated in ${elapsed}`
  const ratio = (duration / elapsedSeconds).toFixed(1)
  return `${duration.toFixed(1)} s of audio in ${elapsed}: ${ratio} times real time`
}
