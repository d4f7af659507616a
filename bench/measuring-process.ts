/** Starts a process that measures once for every line of input, and answers with milliseconds. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export type MeasuringProcess = ReturnType<typeof startMeasuring>

export function startMeasuring(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /**
     * Returns the milliseconds that `line` took, followed by those of CPU time if the program
     * measures them.
     * @throws Error if the process has ended
     */
    async measure(line: string): Promise<number[]> {
      child.stdin.write(`${line}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error(`${program} ${args.join(' ')} ended`)
      return value.split(' ').map(Number)
    },
    stop(): void {
      child.stdin.end()
    },
  }
}
