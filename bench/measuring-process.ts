/** Starts a process that measures once for every input line, and answers with milliseconds. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export type MeasuringProcess = ReturnType<typeof startMeasuring>

/** @param env added to this process's environment */
export function startMeasuring(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
) {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /** Returns the milliseconds that `line` took. @throws Error if the process has ended */
    async measure(line: string): Promise<number> {
      return (await this.measureAll(line))[0]!
    },
    /** Like `measure`, followed by milliseconds of processor time if the program measures them. */
    async measureAll(line: string): Promise<number[]> {
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
