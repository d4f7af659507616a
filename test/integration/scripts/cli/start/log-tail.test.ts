/** Reads the log of a process from where it was last started. */

import assert from 'node:assert/strict'
import { appendFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { fatalMessage, logSince, sizeOf } from '../../../../../scripts/cli/start/log-tail.ts'
import { createLogger } from '../../../../../shared/telemetry/log.ts'
import { temporaryFolder } from '../../../../support/basics/temporary-folder.ts'

test('the log of a start has no lines of an earlier one, whether the file grew or was emptied', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'gateway.log')
  assert.equal(sizeOf(path), 0)
  await writeFile(path, 'of an earlier start\n')
  const start = sizeOf(path)
  assert.equal(logSince(path, start), '')
  await appendFile(path, 'of this start\n')
  assert.equal(logSince(path, start), 'of this start\n')
  assert.equal(logSince(path, start, 6), 'start\n')
  await truncate(path)
  await appendFile(path, 'since\n')
  assert.equal(logSince(path, start), 'since\n')
})

test('the last fatal line says why a process has exited', () => {
  const lines: string[] = []
  const log = createLogger('gateway', 'info', { write: (line) => void lines.push(line) })
  for (const reason of ['first', 'last']) log.fatal(reason)
  log.error('an error')
  assert.equal(fatalMessage(`${lines.join('')}Error: a stack\n{"msg":`), 'last')
  assert.equal(fatalMessage('Error: a stack\n'), undefined)
})
