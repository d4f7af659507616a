/** Shows how far separations are: a bar on a terminal, lines elsewhere. */

import cliProgress from 'cli-progress'
import ms from 'ms'
import { ManyFilesWork } from './many-files-work.ts'

export interface ProgressView {
  /**
   * @param part of the phase that is done, from 0 to 1
   * @param secondsLeft until the end of the request, where the service says so
   */
  show(phase: string, part: number, secondsLeft?: number): void
  /** Prints a line that must not be lost, even when quiet. */
  note(line: string): void
  stop(): void
}

export type Output = NodeJS.WritableStream & { isTTY?: boolean }

export function createProgressView(output: Output, isQuiet: boolean): ProgressView {
  if (isQuiet) return { ...lines(output), show() {} }
  return output.isTTY ? bar(output) : lines(output)
}

/** All that a line of text needs. */
export interface Writer {
  write(text: string): unknown
}

/** Progress of several files together. */
export interface ManyFilesView {
  /** The view of one of the files: its end counts. */
  file(): ProgressView
  /** An output whose lines don't run into the bar. */
  above(output: Writer): Writer
  stop(): void
}

/** One bar for all files on a terminal, nothing elsewhere. */
export function createManyFilesView(
  output: Output,
  isQuiet: boolean,
  count: number,
): ManyFilesView {
  if (isQuiet || !output.isTTY) {
    const silent = createProgressView(output, true)
    return { file: () => silent, above: (other) => other, stop() {} }
  }
  const single = new cliProgress.SingleBar(
    { ...BAR, stream: output, format: '{bar} {percentage}% {files}{left}', forceRedraw: true },
    cliProgress.Presets.shades_classic,
  )
  const work = new ManyFilesWork(count)
  const draw = () => single.update(work.part, textsOf(work))
  single.start(1, 0, textsOf(work))
  const above = (other: Writer) => ({
    write(text: string) {
      output.write(CLEAR_LINE)
      return other.write(text)
    },
  })
  return {
    file() {
      const file = work.file()
      return {
        show(phase, part) {
          file.show(phase, part)
          draw()
        },
        note: (line) => void above(output).write(`${line}\n`),
        stop() {
          file.stop()
          draw()
        },
      }
    },
    above,
    stop: () => single.stop(),
  }
}

const CLEAR_LINE = '\r\x1b[K'

const BAR = {
  hideCursor: true,
  clearOnComplete: true,
  gracefulExit: false, // Ctrl-C is ours
}

function bar(output: Output): ProgressView {
  const single = new cliProgress.SingleBar(
    { format: '{phase} {bar} {percentage}%{left}', ...BAR, stream: output },
    cliProgress.Presets.shades_classic,
  )
  single.start(1, 0, { phase: '', left: '' })
  return {
    show: (phase, part, secondsLeft) => {
      const left = secondsLeft === undefined ? '' : leftText(secondsLeft)
      single.update(part, { phase: phase.padEnd(24), left })
    },
    note: (line) => void output.write(`${CLEAR_LINE}${line}\n`),
    stop: () => single.stop(),
  }
}

const textsOf = ({ ended: files, secondsLeft }: ManyFilesWork) => ({
  files,
  left: secondsLeft === undefined ? '' : leftText(secondsLeft),
})

const leftText = (seconds: number): string => `, about ${ms(seconds * 1_000)} left`

/** A line for every phase and every further tenth of it. */
function lines(output: Output): ProgressView {
  let last = ''
  return {
    show(phase, part) {
      const line = part > 0 ? `${phase} ${Math.floor(part * 10) * 10}%` : phase
      if (line !== last) output.write(`${line}\n`)
      last = line
    },
    note: (line) => void output.write(`${line}\n`),
    stop() {},
  }
}
