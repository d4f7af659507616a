import { describe } from './separate/world.ts'
import { UsageError } from './usage-error.ts'

/** Outlets of a command's end. */
interface Ending {
  stderr: { write(text: string): unknown }
  /** Fires on Ctrl-C. */
  signal: AbortSignal
}

/** The exit code of a client of the service; an error is printed as a line. */
export async function exitCodeOf(
  work: () => Promise<number>,
  { stderr, signal }: Ending,
): Promise<number> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) {
      stderr.write('canceled\n')
      return 130
    }
    stderr.write(`${describe(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
