import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ComputeLostError } from '../../../../engine/compute/compute-errors.ts'
import { ComputeProcess } from '../../../../engine/compute/compute-process.ts'
import { ComputeThread } from '../../../../engine/compute/compute-thread.ts'
import { ComputeWatchdog } from '../../../../engine/compute/compute-watchdog.ts'
import { freeMemory } from '../../../../engine/compute/free-memory.ts'
import { TAGGER } from '../../../../models/tagger/config.ts'
import { createLogger } from '../../../../shared/telemetry/log.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { TEXT_ENCODER_FOLDER } from '../../../support/models/golden.ts'

const log = createLogger('test', 'silent')

const OPTIONS = {
  models: [],
  textEncoderFolder: '',
  precision: 'float32',
  batchFramesMax: 4_096,
  computeSecondsMax: 600,
} as const

/** Runs a process whose compute thread hangs; returns its output and how it ended. */
async function runHanging(
  t: TestContext,
  computeSecondsMax: number,
  onHanging: (child: ChildProcess) => void = () => undefined,
) {
  const path = fileURLToPath(new URL('../../../support/engine/hanging-engine.ts', import.meta.url))
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
  const closed = new Promise((resolve) => child.once('close', resolve)) // may fire in the same turn as `exit`
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
  const program = new URL('../../../support/engine/silent-worker.ts', import.meta.url)
  const thread = await ComputeThread.start(OPTIONS, log, program)
  t.after(() => thread.stop())
  const beat = thread.beat().then(
    () => 'beat',
    () => 'ended',
  )
  assert.equal(await Promise.race([beat, sleep(300)]), undefined)
})

test('with XLA the shapes in use are compiled while the thread keeps answering', async (t) => {
  process.env.XLA = 'on'
  t.after(() => delete process.env.XLA)
  const lines: string[] = []
  const logger = createLogger('test', 'info', {
    write: (line: string) => lines.push((JSON.parse(line) as { msg: string }).msg),
  })
  const thread = await ComputeThread.start({ ...OPTIONS, batchFramesMax: 1 }, logger)
  t.after(() => thread.stop())
  while (lines.length === 0) await Promise.all([thread.beat(), sleep(50)])
  assert.deepEqual(lines, ['tagger is warm in the shapes that are served'])
})

test('each command has the full time limit, from when the thread starts it', (t) => {
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

const MINI = { kind: 'mini', name: 'mini' } as const

test('a model is loaded into a running thread, and computes there', async (t) => {
  const options = { ...OPTIONS, textEncoderFolder: TEXT_ENCODER_FOLDER, leftOut: [TAGGER] }
  const thread = await ComputeThread.start(options, log)
  t.after(() => thread.stop())
  assert.deepEqual([thread.ready.models, thread.ready.tagger], [[], null])
  const beat = thread.load(MINI).then(() => thread.beat())
  await thread.beat()
  await beat
  assert.deepEqual(
    thread.ready.models.map(({ description }) => description.name),
    ['mini'],
  )
  const chunk = { channels: [new Float32Array(8_000)], sampleRate: 8_000 }
  const request = { chunk, spans: [], acceleration: 'fast' } as const
  const [lane] = await thread.open({ model: 'mini', request, heads: [{ prompt: 'x', seed: 0 }] })
  await thread.discard(lane!.lane)
})

test('a model that does not fit in free memory is refused with the figures', async () => {
  const options = { ...OPTIONS, models: [MINI], textEncoderFolder: TEXT_ENCODER_FOLDER }
  const own = { ...options, leftOut: [TAGGER], freeBytes: 1e8 }
  await assert.rejects(
    ComputeProcess.start('mini', own, log, () => undefined),
    /^Error: mini needs 0\.\d GB of memory .* and 0\.1 GB are left\. Unload another first\.$/,
  )
})

test('a process that hangs is killed and started again, alone', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const own = { ...OPTIONS, leftOut: [TAGGER] }
  const compute = await ComputeProcess.start('x', own, log, () => undefined)
  t.after(() => compute.stop())
  const { pid } = compute
  process.kill(pid!, 'SIGSTOP')
  const called = compute.discard(1)
  t.mock.timers.tick(1_000 * OPTIONS.computeSecondsMax)
  await assert.rejects(called, ComputeLostError)
  await compute.restarting
  assert.notEqual(compute.pid, pid)
  await compute.beat()
})

test('a process is not killed for a command that could not be sent', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const own = { ...OPTIONS, leftOut: [TAGGER] }
  const compute = await ComputeProcess.start('x', own, log, () => undefined)
  t.after(() => compute.stop())
  await assert.rejects(compute.step((() => undefined) as never), /could not be cloned/)
  await compute.beat()
  t.mock.timers.tick(1_000 * OPTIONS.computeSecondsMax)
  await compute.beat()
})

test('the sound of a process can be given away while more of it arrives', async (t) => {
  const program = new URL('../../../support/engine/large-replies.ts', import.meta.url)
  const compute = await ComputeProcess.start('x', OPTIONS, log, () => undefined, program)
  t.after(() => compute.stop())
  const closeAndGiveAway = async (lane: number) => {
    const [sound] = (await compute.close(lane))[0]!.target
    const { buffer, byteLength } = sound!
    assert.equal(buffer.byteLength, byteLength, 'it has memory of its own')
    return structuredClone(sound!, { transfer: [buffer as ArrayBuffer] })
  }
  const sounds = await Promise.all([1, 2, 3, 4].map(closeAndGiveAway))
  assert.ok(sounds.every((sound) => sound.length === 2 ** 18 && sound.every((x) => x === 1)))
})

test("a process that can't be restarted is given up", async (t) => {
  const folder = temporaryFolder(t)
  const textEncoderFolder = join(folder, 'text-encoder')
  await symlink(TEXT_ENCODER_FOLDER, textEncoderFolder)
  const own = { ...OPTIONS, models: [MINI], textEncoderFolder, leftOut: [TAGGER] }
  const lost = await new Promise<Error>((onLost, reject) => {
    const starting = ComputeProcess.start('mini', own, log, onLost)
    starting.then(async ({ pid }) => {
      await rm(textEncoderFolder)
      process.kill(pid!, 'SIGKILL')
    }, reject)
  })
  assert.match(lost.message, /text-encoder/)
})

test('a control group limits free memory, not counting its file cache', async (t) => {
  const root = temporaryFolder(t)
  await mkdir(join(root, 'service/engine'), { recursive: true })
  assert.ok(freeMemory(root, '/service/engine') > 5_000)
  await writeFile(join(root, 'service/memory.max'), '10000\n')
  await writeFile(join(root, 'service/memory.current'), '9000\n')
  await writeFile(
    join(root, 'service/memory.stat'),
    'anon 5000\nfile 4000\ninactive_file 3000\nactive_file 500\n',
  )
  await writeFile(join(root, 'service/engine/memory.max'), 'max\n')
  assert.equal(freeMemory(root, '/service/engine'), 4_500)
})
