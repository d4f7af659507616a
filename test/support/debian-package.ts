/** Programs of Debian packages that tests need. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'

/** Fails the test, naming the command that installs it, where the program is missing. */
export function assertProgram(program: string, packageName: string): void {
  const { error } = spawnSync(program, ['--version'])
  assert.ok(!error, `${program} is missing: sudo apt-get install -y ${packageName}`)
}
