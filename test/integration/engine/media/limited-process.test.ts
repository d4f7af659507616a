import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LimitedProcess, LimitError } from '../../../../engine/media/process/limited-process.ts'
import type { LimitedTask } from '../../../support/engine/limited-program.ts'

const PROGRAM = new URL('../../../support/engine/limited-program.ts', import.meta.url)
const LIMITS = { bytesMax: 2 ** 29, secondsMax: 60, niceness: 0 }

const begin = (limits = {}) =>
  new LimitedProcess<LimitedTask>(PROGRAM, { ...LIMITS, ...limits }, {})

test('it answers, but not after exceeding its memory or a crash', async () => {
  for (const task of ['fill', 'crash'] as const) {
    const limited = begin()
    assert.equal(await limited.call('answer'), 'answer')
    const refused = (error: Error) =>
      error instanceof LimitError &&
      /more than 512 MiB of memory, or is damaged/.test(error.message)
    await assert.rejects(limited.call(task), refused)
    assert.equal(limited.hasEnded, true)
    await assert.rejects(limited.call('answer'), refused)
  }
})

test('work that never ends is ended', async () => {
  const limited = begin({ secondsMax: 3 })
  await assert.rejects(limited.call('hang'), { name: 'LimitError', message: /longer than 3 s/ })
})

test('closing it ends its work with the reason', async () => {
  const limited = begin()
  const work = limited.call('hang')
  limited.close(new Error('canceled'))
  await assert.rejects(work, /canceled/)
})

test('being killed or failing to start is not blamed on the work', async () => {
  const killed = begin()
  await killed.call('answer')
  await assert.rejects(killed.call('die'), { name: 'Error', message: /was killed/ })
  const small = begin({ bytesMax: 2 ** 26 })
  await assert.rejects(small.call('answer'), { name: 'Error', message: /before it was ready/ })
})

test('an answer that nobody waits for any more ends the process silently', async () => {
  const child = fork(fileURLToPath(PROGRAM), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  })
  await once(child, 'message')
  child.send({ id: 1, task: 'pause' satisfies LimitedTask })
  child.disconnect() // before it has answered
  const [errors, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')])
  assert.equal(errors, '')
  assert.equal(code, 0)
})

test(
  'work that never ends does not outlive a process that is killed',
  { timeout: 120_000 },
  async (t) => {
    const program = fileURLToPath(
      new URL('../../../support/engine/limited-owner.ts', import.meta.url),
    )
    const owner = spawn(process.execPath, ['--import', 'tsx', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = (await once(owner.stdout, 'data')) as [Buffer]
    const id = Number(output.toString())
    const working = `/proc/${id}`
    t.after(() => existsSync(working) && process.kill(id, 'SIGKILL'))
    assert.ok(existsSync(working))
    owner.kill('SIGKILL')
    while (existsSync(working)) await sleep(50)
  },
)
