/** Runs PyTorch for comparison: a Python process that measures once for every input line. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type PyTorch = ReturnType<typeof startPyTorch>

/**
 * @param python an interpreter that has PyTorch
 * @param script in the folder of the benches; it answers each line with milliseconds
 */
export function startPyTorch(python: string, script: string, args: readonly string[]) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  // Spinning threads slow each other down on a busy machine.
  const env = { ...process.env, GOMP_SPINCOUNT: '20000', OMP_WAIT_POLICY: 'passive' }
  const child = spawn(python, ['-W', 'ignore', path, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /** Milliseconds of what `line` asks for. @throws Error when the process has ended */
    async measure(line: string): Promise<number> {
      return (await this.measureAll(line))[0]!
    },
    /** As `measure`, then milliseconds of processor time where the script gives them too. */
    async measureAll(line: string): Promise<number[]> {
      child.stdin.write(`${line}\n`)
      const { value, done } = await answers.next()
      if (done) throw new Error(`${script} ended`)
      return value.split(' ').map(Number)
    },
    stop(): void {
      child.stdin.end()
    },
  }
}
