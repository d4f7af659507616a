/**
 * Tries from a sandboxed decoder what code in a media file could do: it can reach no other files,
 * no other process and no network. Outside of the sandbox the same program can do all of it.
 */

import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { LimitedProcess } from '../../../../engine/media/process/limited-process.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import type { Escape } from '../../../support/engine/escaping-program.ts'

const PROGRAM = new URL('../../../support/engine/escaping-program.ts', import.meta.url)
const LIMITS = { bytesMax: 2 ** 29, secondsMax: 60, niceness: 0 }

const folder = temporaryFolder({ after })
const media = join(folder, 'media')
const secret = join(folder, 'secret')
const path = join(folder, 'socket')
const servers = [createServer(), createServer()]
const bystander = spawn('sleep', ['600'], { stdio: 'ignore' })
let port = 0

before(async () => {
  for (const each of [media, secret]) {
    mkdirSync(each)
    writeFileSync(join(each, 'file'), 'stored')
  }
  const [tcp, unix] = servers
  await new Promise<void>((resolve) => tcp!.listen(0, '127.0.0.1', resolve))
  await new Promise<void>((resolve) => unix!.listen(path, resolve))
  port = (tcp!.address() as AddressInfo).port
})

after(() => {
  for (const server of servers) server.close()
  bystander.kill('SIGKILL')
})

/** Escapes that must fail in the sandbox, where only `media` can be read and written. */
const escapes = (): Escape[] => [
  { read: join(secret, 'file') },
  { read: '/etc/passwd' },
  { read: `/proc/${process.pid}/environ` },
  { read: `/proc/${process.pid}/cmdline` },
  { list: secret },
  { list: '/' },
  { write: join(secret, 'new') },
  { write: '/var/tmp/winnow-escaped' },
  { connect: port },
  { connect: path },
  { send: port },
  { readByProgram: join(secret, 'file') },
  { kill: bystander.pid! },
]

test('in the sandbox it reads and writes media, and does nothing else', async (t) => {
  const writer = new LimitedProcess<Escape>(PROGRAM, LIMITS, { writes: [media] })
  t.after(() => writer.close())
  assert.equal(await writer.call({ read: join(media, 'file') }), 'stored')
  await writer.call({ write: join(media, 'new') })
  assert.equal(readFileSync(join(media, 'new'), 'latin1'), 'written')
  for (const escape of escapes()) {
    await assert.rejects(
      writer.call(escape),
      /EPERM|EACCES|Permission denied/,
      JSON.stringify(escape),
    )
  }
  assert.equal(bystander.exitCode ?? bystander.signalCode, null)
})

test("with read access only, it can't write its media either", async (t) => {
  const reader = new LimitedProcess<Escape>(PROGRAM, LIMITS, { reads: [media] })
  t.after(() => reader.close())
  assert.equal(await reader.call({ read: join(media, 'file') }), 'stored')
  await assert.rejects(reader.call({ write: join(media, 'file') }), /EACCES/)
  await assert.rejects(reader.call({ write: join(media, 'other') }), /EACCES/)
})

test('outside of the sandbox the same program does all of it', async (t) => {
  const child = fork(PROGRAM, { execArgv: ['--import', import.meta.resolve('tsx')] })
  t.after(() => child.kill('SIGKILL'))
  const answer = () =>
    new Promise<object>((resolve) => child.once('message', (message) => resolve(message as object)))
  assert.deepEqual(await answer(), { ready: true })
  for (const [id, task] of escapes().entries()) {
    const answered = answer()
    child.send({ id, task })
    assert.ok(!('error' in (await answered)), JSON.stringify(task))
  }
  rmSync('/var/tmp/winnow-escaped')
})
