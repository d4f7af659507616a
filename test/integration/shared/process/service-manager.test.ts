/** A process reports to systemd, through the real libsystemd and a real socket. */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { connectServiceManager } from '../../../../shared/process/service-manager.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const log = createLogger('test', 'silent')
const support = (name: string) =>
  fileURLToPath(new URL(`../../../support/processes/${name}`, import.meta.url))

/** Opens a manager's socket in a fresh folder; `next` resolves with the next report. */
async function listen(t: TestContext) {
  const folder = temporaryFolder(t)
  const path = join(folder, 'notify')
  const receiver = spawn('python3', [support('notify_socket.py'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => receiver.kill('SIGKILL'))
  const reports = createInterface(receiver.stdout)[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await reports.next()).value as string) as string
  assert.equal(await next(), 'listening')
  process.env.NOTIFY_SOCKET = path // libsystemd reads it itself
  t.after(() => delete process.env.NOTIFY_SOCKET)
  return { env: { NOTIFY_SOCKET: path }, next, folder }
}

test('readiness, status and end are reported', async (t) => {
  const { env, next } = await listen(t)
  const manager = await connectServiceManager(env, log)
  manager.ready('serving\nhere')
  assert.equal(await next(), 'READY=1\nSTATUS=serving here')
  manager.stopping(45)
  assert.equal(await next(), 'STOPPING=1\nEXTEND_TIMEOUT_USEC=45000000\nSTATUS=stopping')
})

test('the watchdog is fed only after a beat', async (t) => {
  const { env, next } = await listen(t)
  const manager = await connectServiceManager({ ...env, WATCHDOG_USEC: '30000' }, log)
  let beat = () => {}
  let beats = 0
  t.mock.timers.enable({ apis: ['setInterval'] })
  manager.keepAlive(
    () => {
      beats += 1
      return new Promise((resolve) => {
        beat = resolve
      })
    },
    () => `${beats} beats`,
  )
  t.mock.timers.tick(9_999)
  manager.ready('nothing was fed before')
  assert.equal(await next(), 'READY=1\nSTATUS=nothing was fed before')
  assert.equal(beats, 1) // while one is unanswered, no other is asked for
  beat()
  assert.equal(await next(), 'WATCHDOG=1\nSTATUS=1 beats')
  await new Promise(setImmediate)
  t.mock.timers.tick(10)
  assert.equal(beats, 2)
})

test('the watchdog of another process is not fed, but the status is reported', async (t) => {
  const { env, next } = await listen(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const manager = await connectServiceManager(
    { ...env, WATCHDOG_USEC: '30000', WATCHDOG_PID: '1' },
    log,
  )
  let beats = 0
  manager.keepAlive(
    async () => void (beats += 1),
    () => 'well',
  )
  assert.equal(await next(), 'STATUS=well')
  t.mock.timers.tick(9_999)
  assert.equal(beats, 1)
})

test('without a manager nothing is loaded, and there are no beats', async () => {
  const manager = await connectServiceManager({}, log)
  manager.ready('')
  manager.keepAlive(
    () => assert.fail('a beat that nobody asked for'),
    () => '',
  )
  manager.stopping(1)
})

test('an unusable libsystemd is reported in one clear line', async (t) => {
  const { folder, env } = await listen(t)
  await writeFile(join(folder, 'libsystemd.so.0'), 'not a library')
  const shared = (name: string) => new URL(`../../../../shared/${name}.ts`, import.meta.url).href
  const program = `
    const { connectServiceManager } = await import('${shared('process/service-manager')}')
    const { createLogger } = await import('${shared('telemetry/log')}')
    const { startOrEnd } = await import('${shared('process/lifecycle')}')
    const log = createLogger('test', 'info')
    await startOrEnd(log, connectServiceManager(process.env, log))`
  const running = promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', program],
    { env: { ...process.env, ...env, LD_LIBRARY_PATH: folder } },
  )
  await assert.rejects(running, ({ code, stdout, stderr }) => {
    assert.equal(code, 1)
    assert.equal(stderr, '')
    const { msg } = JSON.parse(stdout)
    assert.match(
      msg,
      /^NOTIFY_SOCKET is set, as by systemd, but libsystemd\.so\.0 can't be used \(.+\)\. Install/,
    )
    return true
  })
})
