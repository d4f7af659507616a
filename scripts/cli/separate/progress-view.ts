/** Shows how far a separation is: a bar on a terminal, lines elsewhere. */

import cliProgress from 'cli-progress'
import ms from 'ms'

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

const CLEAR_LINE = '\r\x1b[K'

function bar(output: Output): ProgressView {
  const single = new cliProgress.SingleBar(
    {
      format: '{phase} {bar} {percentage}%{left}',
      stream: output,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false, // Ctrl-C is ours
    },
    cliProgress.Presets.shades_classic,
  )
  single.start(1, 0, { phase: '', left: '' })
  return {
    show: (phase, part, secondsLeft) => {
      const left = secondsLeft === undefined ? '' : `, about ${ms(secondsLeft * 1_000)} left`
      single.update(part, { phase: phase.padEnd(24), left })
    },
    note: (line) => void output.write(`${CLEAR_LINE}${line}\n`),
    stop: () => single.stop(),
  }
}

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
