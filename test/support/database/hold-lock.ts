/** Starts a process that holds the write lock of a SQLite file until told to release it. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('hold-lock-program.ts', import.meta.url))

export async function holdLock(t: TestContext, path: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.end()
    await once(child, 'exit')
  }
}
