/** The logs of `npm start` are rotated while a process writes them. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { rotateLog } from '../../../../../scripts/cli/start/log-rotation.ts'
import { temporaryFolder } from '../../../../support/basics/temporary-folder.ts'

/** Writes a numbered line for each byte it reads, and reports how many it has written. */
const WRITER = `let n = 0
process.stdin.on('data', (bytes) => {
  for (const _ of bytes) require('fs').writeSync(1, 'line ' + n++ + '\\n')
  process.send(n)
})`

test('the log of a running process is rotated: six files at most, every line in order', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'service.log')
  const log = openSync(path, 'a')
  const child = spawn(process.execPath, ['-e', WRITER], { stdio: ['pipe', log, 'inherit', 'ipc'] })
  closeSync(log)
  t.after(() => child.kill('SIGKILL'))
  const write = async (lines: number) => {
    child.stdin!.write('x'.repeat(lines))
    await once(child, 'message')
  }
  for (let round = 0; round < 9; round += 1) {
    await write(10)
    rotateLog(path, 60)
  }
  await write(1)
  const names = (await readdir(folder)).sort()
  const parts = ['.1', '.2', '.3', '.4', '.5'].map((part) => `service.log${part}`)
  assert.deepEqual(names, ['service.log', ...parts])
  const texts = await Promise.all(
    [...parts.toReversed(), 'service.log'].map((name) => readFile(join(folder, name), 'utf8')),
  )
  const lines = Array.from({ length: 51 }, (_, index) => `line ${index + 40}\n`)
  assert.equal(texts.join(''), lines.join(''))
  assert.equal((await stat(path)).size, 'line 90\n'.length, 'no gap of zeros where it was emptied')
  rotateLog(path, 60)
  assert.equal((await readdir(folder)).length, 6, 'a small one is left as it is')
})
