/** A supervised process comes back, and its end is noted only where nobody asked for it. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { SupervisedProcess, type RunningProcess } from './supervised.ts'

/** Waits forever, or ends with the code by itself. */
async function start(code?: number): Promise<RunningProcess> {
  const child =
    code === undefined ? spawn('sleep', ['infinity']) : spawn('sh', ['-c', `exit ${code}`])
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | string)
  return { pid: child.pid!, ready: Promise.resolve(), ended, log: () => '' }
}

function supervise(t: TestContext, codes: (number | undefined)[] = []) {
  const deaths: string[] = []
  const pids: number[] = []
  const supervised = new SupervisedProcess({
    name: 'it',
    start: async () => {
      const running = await start(codes.shift())
      pids.push(running.pid)
      return running
    },
    mayEnd: (code) => code === 7,
    onDeath: (death) => deaths.push(death),
  })
  supervised.start()
  t.after(() => supervised.stop())
  return { supervised, deaths, pids }
}

test('what is killed comes back, and no death is noted', async (t) => {
  const { supervised, deaths, pids } = supervise(t)
  await supervised.untilUp()
  let isBack = false
  const code = await supervised.end('SIGKILL', async () => {
    await sleep(300) // longer than until it comes back
    isBack = pids.length > 1
  })
  assert.equal(code, 'SIGKILL')
  assert.equal(isBack, false, 'it waits for what is done meanwhile')
  await supervised.untilUp()
  assert.equal(pids.length, 2)
  assert.deepEqual(deaths, [])
})

test('what is frozen can be killed', async (t) => {
  const { supervised, deaths } = supervise(t)
  await supervised.untilUp()
  supervised.freeze()
  assert.equal(supervised.state, 'frozen')
  assert.equal(await supervised.end('SIGKILL'), 'SIGKILL')
  supervised.thaw() // late: it concerns nobody
  assert.notEqual(supervised.state, 'up')
  await supervised.untilUp()
  assert.deepEqual(deaths, [])
})

test('what ends by itself is noted, unless it may', async (t) => {
  const { supervised, deaths, pids } = supervise(t, [1, 7])
  while (pids.length < 3) await sleep(10)
  await supervised.untilUp()
  assert.deepEqual(deaths, ['it ended with 1'])
})

test('two who wait for it act one after the other, each on a process of its own', async (t) => {
  const { supervised, deaths, pids } = supervise(t)
  const kill = () => supervised.end('SIGKILL')
  const codes = await Promise.all([supervised.whenUp(kill), supervised.whenUp(kill)])
  assert.deepEqual(codes, ['SIGKILL', 'SIGKILL'])
  await supervised.untilUp()
  assert.equal(pids.length, 3)
  assert.deepEqual(deaths, [])
})
