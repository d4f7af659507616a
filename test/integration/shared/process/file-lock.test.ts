import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { takeLock } from '../../../../shared/process/file-lock.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

/** Takes the lock, starts a child that outlives it without holding the lock, and reports both. */
const HOLD = `
import { spawn } from 'node:child_process'
import { takeLock } from './shared/process/file-lock.ts'
const holder = await takeLock(process.argv[1])
const child = spawn('sleep', ['600'], { stdio: 'ignore' })
process.send({ holder, child: child.pid })
setInterval(() => {}, 1_000)
`

test('a lock belongs to one process, which is named, and ends with it even if its child lives on', async (t) => {
  const path = join(temporaryFolder(t), 'lock')
  const words = ['--import', 'tsx', '--input-type=module', '--eval', HOLD, path]
  const holder = spawn(process.execPath, words, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => holder.kill('SIGKILL'))
  const [message] = (await once(holder, 'message')) as [{ holder: unknown; child: number }]
  t.after(() => process.kill(message.child, 'SIGKILL'))
  assert.equal(message.holder, null)
  assert.equal(await takeLock(path), `process ${holder.pid} on ${hostname()}`)

  const waits: string[] = []
  const onWait = (other: string) => void waits.push(other)
  const taking = takeLock(path, { waitMsMax: 600_000, onWait })
  assert.notEqual(await takeLock(path, { waitMsMax: 500, onWait: () => undefined }), null)
  holder.kill('SIGKILL')
  assert.equal(await taking, null)
  assert.equal(waits.length, 1, 'the wait is logged once')
  assert.equal(await takeLock(path), `process ${process.pid} on ${hostname()}`)
})
