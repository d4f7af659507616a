import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
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

async function lockedFile(t: TestContext): Promise<{ path: string; holder: ChildProcess }> {
  const path = join(temporaryFolder(t), 'lock')
  const words = ['--import', 'tsx', '--input-type=module', '--eval', HOLD, path]
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
  const holder = spawn(process.execPath, words, { cwd: ROOT, stdio: [...stdio] })
  const [message] = (await once(holder, 'message')) as [{ holder: unknown; child: number }]
  t.after(() => {
    process.kill(message.child, 'SIGKILL')
    holder.kill('SIGKILL')
  })
  assert.equal(message.holder, null)
  return { path, holder }
}

test('a lock belongs to one process, which is named, and ends with it even if its child lives on', async (t) => {
  const { path, holder } = await lockedFile(t)
  assert.equal(await takeLock(path), `process ${holder.pid} on ${hostname()}`)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  assert.equal(await takeLock(path), null)
  assert.equal(await takeLock(path), `process ${process.pid} on ${hostname()}`)
})

test('waiting for a lock is logged once', async (t) => {
  const { path, holder } = await lockedFile(t)
  const messages: string[] = []
  const onWait = (other: string) => void messages.push(other)
  const taking = takeLock(path, { waitMsMax: 600_000, onWait })
  const briefly = await takeLock(path, { waitMsMax: 500, onWait: () => undefined })
  assert.notEqual(briefly, null)
  holder.kill('SIGKILL')
  assert.equal(await taking, null)
  assert.equal(messages.length, 1)
})
