/** A backup of a running installation serves all that was finished, and finishes the rest. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { runBackup } from '../../scripts/backup/command.ts'
import { examplePath } from '../support/examples.ts'
import { runCommand } from '../support/run-command.ts'
import {
  downloadResult,
  followToEnd,
  separateFile,
  startWinnow,
  submitFile,
} from '../support/start-winnow.ts'

const run = (words: string[], dataFolder: string) =>
  runCommand(
    (given, streams) => runBackup(given, { env: { DATA_DIR: dataFolder }, ...streams }),
    words,
  )

test('what is backed up while it runs is served after a restoration, and the rest is finished', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const backup = join(folder, 'backup')
  const restored = join(folder, 'restored')

  const first = await startWinnow(t)
  const file = examplePath('speech-over-piano.wav')
  const { submitted: finished } = await separateFile(first, file, { prompt: 'piano' })
  const before = await downloadResult(first, finished)
  await first.engines[0]!.end('SIGTERM')
  const waiting = await submitFile(first, file, { prompt: 'speech' })
  assert.equal((await run([backup], first.folder)).code, 0)
  assert.equal((await stat(backup)).mode & 0o077, 0, 'others cannot read it')
  await first.gateway.end('SIGTERM')

  const { code, text: out } = await run(['restore', backup], restored)
  assert.deepEqual([code, out.endsWith(`are in ${restored}.\n`)], [0, true], out)
  const second = await startWinnow(t, { env: { DATA_DIR: restored } })
  const after = await downloadResult(second, finished.request_id)
  assert.ok(after.target.equals(before.target) && after.residual.equals(before.residual))
  const end = (await followToEnd(second, waiting.request_id)).at(-1)
  assert.equal(end?.status, 'COMPLETED')
})

test('a backup and a restoration write over nothing, and say what is missing', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const nothing = join(folder, 'nothing')
  const none = await run([join(folder, 'backup')], nothing)
  assert.match(
    none.errors,
    /^DATA_DIR must name the data of an installation: there is no .*winnow\.db\.\n$/,
  )
  const noBackup = await run(['restore', nothing], join(folder, 'data'))
  assert.match(noBackup.errors, /^FOLDER must name a backup: there is no /)
  assert.deepEqual([none.code, noBackup.code, (await run([], folder)).code], [1, 1, 2])
})
