/** Prints each answer as a line of JSON, with what is needed to compare it with another run. */
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'

export function report(question: string, answer: Record<string, unknown>): void {
  console.log(JSON.stringify({ question, commit: commit(), machine: machine(), ...answer }))
}

/** Returns the value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN
}

export const round = (value: number, digits = 3): number => Number(value.toPrecision(digits))

export function machine(): string {
  return `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`
}

export function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return 'unknown'
  }
}
