/** Shows the progress of separations: a bar on a terminal, a line for each phase elsewhere. */

import ms from 'ms'
import { ManyFilesWork } from './many-files-work.ts'
import { StatusLine, type Output, type Writer } from './status-line.ts'

export interface ProgressView {
  /**
   * @param phase what is being waited for; after a comma, details that change
   * @param part completed share of the phase, from 0 to 1
   * @param secondsLeft until the end of the request, if the service says so
   */
  show(phase: string, part: number, secondsLeft?: number): void
  /** Prints a line that is important enough to be printed even when quiet. */
  note(line: string): void
  stop(): void
}

export function createProgressView(output: Output, isQuiet: boolean): ProgressView {
  if (isQuiet) return { ...lines(output), show() {} }
  return output.isTTY ? bar(output) : lines(output)
}

/** The progress of several files together. */
export interface ManyFilesView {
  /** The view of one of the files, whose end counts. */
  file(): ProgressView
  /** An output whose lines do not run into the bar. */
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
  const line = new StatusLine(output)
  const above = (other: Writer) => line.above(other)
  const work = new ManyFilesWork(count)
  const draw = () => line.show(`${barOf(work.part)} ${work.ended}${leftText(work.secondsLeft)}`)
  draw()
  return {
    file() {
      const file = work.file()
      return {
        show(phase, part) {
          file.show(phase, part)
          draw()
        },
        note: (text) => void above(output).write(`${text}\n`),
        stop() {
          file.stop()
          draw()
        },
      }
    },
    above,
    stop: () => line.clear(),
  }
}

const PHASE_COLUMNS = 12
const BAR_COLUMNS = 30

function bar(output: Output): ProgressView {
  const line = new StatusLine(output)
  return {
    show: (phase, part, secondsLeft) =>
      line.show(
        part > 0
          ? `${phase.padEnd(PHASE_COLUMNS)} ${barOf(part)}${leftText(secondsLeft)}`
          : phase + leftText(secondsLeft),
      ),
    note: (text) => void line.above(output).write(`${text}\n`),
    stop: () => line.clear(),
  }
}

function barOf(part: number): string {
  const done = Math.floor(part * BAR_COLUMNS)
  const bar = '█'.repeat(done) + '░'.repeat(BAR_COLUMNS - done)
  return `${bar} ${Math.floor(part * 100)}%`
}

const leftText = (seconds = 0): string =>
  seconds > 0 ? `, about ${ms(Math.ceil(seconds) * 1_000)} left` : ''

/** One line as each phase begins, which keeps the log of hours short. */
function lines(output: Output): ProgressView {
  let last = ''
  return {
    show(phase, _part, secondsLeft) {
      const [name = ''] = phase.split(',')
      if (name !== last) output.write(`${phase}${leftText(secondsLeft)}\n`)
      last = name
    },
    note: (line) => void output.write(`${line}\n`),
    stop() {},
  }
}
