import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BatchBudget } from '../../../../engine/compute/batch-budget.ts'
import { ComputeThread } from '../../../../engine/compute/compute-thread.ts'
import { ComputeWatchdog } from '../../../../engine/compute/compute-watchdog.ts'
import { Scheduler } from '../../../../engine/compute/scheduler.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'

const log = createLogger('test', 'silent')

const OPTIONS = {
  models: [],
  textEncoderFolder: '',
  precision: 'float32',
  batchFramesMax: 4_096,
  computeSecondsMax: 600,
} as const

/** Runs a process whose compute thread hangs; what it says, and how it ends. */
async function runHanging(
  t: TestContext,
  computeSecondsMax: number,
  onHanging: (child: ChildProcess) => void = () => undefined,
) {
  const path = fileURLToPath(new URL('../../../support/hanging-engine.ts', import.meta.url))
  const words = ['--import', 'tsx', path, String(computeSecondsMax)]
  const child = spawn(process.execPath, words, { stdio: 'pipe' })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  const read = (text: Buffer) => {
    output += text.toString()
    if (text.includes('hanging')) onHanging(child)
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const closed = new Promise((resolve) => child.once('close', resolve)) // in the turn it ends, maybe
  const ended = await new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code))
  })
  child.stdin.end()
  await closed
  return { output, ended }
}

test('a call that hangs in native code ends the process, which process.exit could not', async (t) => {
  const { output, ended } = await runHanging(t, 1)
  assert.equal(ended, 'SIGKILL', output)
  assert.match(output, /"level":60.*the compute thread hung for 1 s/)
})

test('a thread that cannot be stopped ends with its process', async (t) => {
  const { output, ended } = await runHanging(t, 600, (child) => child.kill('SIGTERM'))
  assert.equal(ended, 'SIGKILL', output)
  assert.match(output, /"level":60.*could not be stopped/)
})

test('a thread that does not answer has no heartbeat', async (t) => {
  const program = new URL('../../../support/silent-worker.ts', import.meta.url)
  const thread = await ComputeThread.start(OPTIONS, log, program)
  t.after(() => thread.stop())
  const beat = thread.beat().then(
    () => 'beat',
    () => 'ended',
  )
  assert.equal(await Promise.race([beat, sleep(300)]), undefined)
})

test('a job is let go of at once, though its call hangs', async (t) => {
  const thread = await ComputeThread.start(
    OPTIONS,
    log,
    new URL('../../../support/silent-worker.ts', import.meta.url),
  )
  t.after(() => thread.stop())
  const scheduler = new Scheduler(thread, new Map([['mini', new BatchBudget(1_000, log)]]))
  const stop = new AbortController()
  const chunk = { channels: [new Float32Array(1)], sampleRate: 1 }
  const separated = scheduler.separate(
    {
      model: 'mini',
      request: { chunk, spans: [], acceleration: 'fast' },
      heads: [{ prompt: '', seed: 0 }],
    },
    { accountId: 'a', requestId: 'r' },
    { signal: stop.signal, onStep: () => undefined },
  )
  stop.abort(new Error('canceled'))
  await assert.rejects(separated, /canceled/)
})

test('each command has the whole time, from when the thread begins it', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let hangs = 0
  const watchdog = new ComputeWatchdog(10, () => {
    hangs += 1
  })
  for (let i = 0; i < 3; i += 1) {
    watchdog.begin()
    t.mock.timers.tick(9_000)
  }
  watchdog.end()
  t.mock.timers.tick(60_000)
  assert.equal(hangs, 0)
  watchdog.begin()
  t.mock.timers.tick(10_000)
  t.mock.timers.tick(60_000)
  assert.equal(hangs, 1)
})
