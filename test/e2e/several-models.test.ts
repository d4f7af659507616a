/** Several models behind one prompt, as a user installs and requests them, with random weights. */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { model } from '../../scripts/cli/model/command.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { connectEngine, type EngineClient } from '../../shared/engine-control.ts'
import { noise, sine } from '../support/media/signals.ts'
import { startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { TINY_MODELS } from '../support/models/tiny-models.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'

/** Error of the 24-bit samples of all outputs. */
const ROUNDING = 4 / 2 ** 23

const RATE = 48_000
const SECONDS = 2.3

let winnow: Winnow
let modelsFolder: string

before(async (t) => {
  modelsFolder = mkdtempSync(join(tmpdir(), 'several-models-'))
  ;(t as TestContext).after(() => rmSync(modelsFolder, { recursive: true }))
  for (const name of ['htdemucs', 'audiosep']) await install(name)
  winnow = await startWinnow(t as TestContext, { env: { MODELS_DIR: modelsFolder } })
})

async function install(name: string): Promise<void> {
  const words = ['import', ...TINY_MODELS[name]!]
  const { code, text, errors } = await runCommand(model, words, {
    env: { MODELS_DIR: modelsFolder },
  })
  assert.equal(code, 0, errors)
  assert.match(text, RegExp(`^Installed ${name} in `))
}

interface SubmitFields {
  prompt?: string
  prompts?: string[]
  separator?: string
}

async function submit(planes: Float32Array[], fields: SubmitFields): Promise<string> {
  const path = join(winnow.folder, 'source.wav')
  await writeFile(path, wavBytes(planes, RATE, 'float32'))
  const file_id = await winnow.client.upload(path, 'audio/wav')
  const { request_id } = await winnow.client.submit({ input: { file_id, ...fields } })
  return request_id
}

const separated = async (planes: Float32Array[], fields: SubmitFields) =>
  resultOf(await submit(planes, fields))

/** Returns the outputs, and the models of the targets. */
async function resultOf(request_id: string) {
  const { client } = winnow
  const { data } = await client.wait(request_id)
  const outputs = [...(data.targets ?? [data.target]), data.residual]
  const files = await Promise.all(
    outputs.map(async ({ url }) => readWav24(Buffer.from(await (await fetch(url)).arrayBuffer()))),
  )
  const status = await client.status(request_id, { logs: true })
  return {
    files,
    models: (status.targets ?? [status]).map(({ separator }) => separator),
    gain: 10 ** ((data.gain_db ?? 0) / 20),
    logs: (status.logs ?? []).map(({ message }) => message).join('\n'),
  }
}

const SONG = [sine(220, SECONDS, RATE), noise(SECONDS, RATE, 3)]

function assertAddsUp({ files, gain }: Awaited<ReturnType<typeof separated>>): void {
  for (const { sampleRate, planes } of files) {
    assert.deepEqual([sampleRate, planes.length, planes[0]!.length], [RATE, 2, SONG[0]!.length])
  }
  for (const [c, wave] of SONG.entries()) {
    let worst = 0
    for (let i = 0; i < wave.length; i += 1) {
      const sum = files.reduce((total, { planes }) => total + planes[c]![i]!, 0)
      worst = Math.max(worst, Math.abs(sum - gain * wave[i]!))
    }
    assert.ok(worst <= ROUNDING, `the outputs differ from the media by ${worst}`)
  }
}

test('the stems of a song come from the model that has them, in stereo at 48 kHz, and add up', async () => {
  const answer = await separated(SONG, { prompts: ['vocals', 'the drums'] })
  assert.deepEqual(answer.models, ['htdemucs', 'htdemucs'])
  assertAddsUp(answer)
  assert.match(answer.logs, /"vocals" is the stem vocals of htdemucs\./)
  assert.ok(answer.files[0]!.planes[0]!.some((x) => Math.abs(x) > 1e-3))
})

test('any other sound goes to the model for text prompts', async () => {
  const answer = await separated(SONG, { prompt: 'washing machine' })
  assert.deepEqual(answer.models, ['audiosep'])
  assertAddsUp(answer)
})

test('the prompts of a request go to several models, and a request can name one', async () => {
  const several = await separated(SONG, { prompts: ['no vocals', 'rain'] })
  assert.deepEqual(several.models, ['htdemucs', 'audiosep'])
  assertAddsUp(several)
  const named = await separated(SONG, { prompt: 'rain', separator: 'mini' })
  assert.deepEqual(named.models, ['mini'])
  assertAddsUp(named)
})

test('a model that no engine has is refused with the available ones', async () => {
  await assert.rejects(separated(SONG, { prompt: 'rain', separator: 'flute' }), /htdemucs/)
})

/** Returns the ids of the engine's model processes. */
function modelProcesses(): number[] {
  const { pid } = winnow.engines[0]!.child
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children
    .split(' ')
    .filter((child) => child !== '')
    .map(Number)
    .filter((child) => commandOf(child).includes('process-main'))
}

/** Returns the command line of a process; empty once it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}

/** Returns the models that the gateway lists. */
async function listedModels(): Promise<string[]> {
  const { data } = await winnow.client.models()
  return data.flatMap(({ separators = [] }) => separators.map(({ name }) => name))
}

/** Loads scnet and stops its process, so that its steps last until it continues; returns its id. */
async function loadStopped(engine: EngineClient): Promise<number> {
  const before = modelProcesses()
  assert.deepEqual([before.length, (await engine.loadModel('scnet')).name], [2, 'scnet'])
  const [pid] = modelProcesses().filter((each) => !before.includes(each))
  process.kill(pid!, 'SIGSTOP')
  return pid!
}

test('a model installed while the engine runs is loaded, computes in its own process, and is unloaded', async (t) => {
  const engine = connectEngine(winnow.engines[0]!.ready.control!)
  t.after(() => engine.close())
  const stateOf = async () =>
    (await engine.listModels()).find(({ name }) => name === 'scnet')?.state
  const isInProgress = async (id: string) =>
    (await winnow.client.status(id)).status === 'IN_PROGRESS'
  assert.equal(await stateOf(), undefined)
  await install('scnet')
  assert.equal(await stateOf(), 'NOT_LOADED')
  const stopped = await loadStopped(engine)
  await until(async () => (await listedModels()).includes('scnet'))
  const heldRequest = await submit(SONG, { prompt: 'vocals', separator: 'scnet' })
  await until(() => isInProgress(heldRequest))
  assert.deepEqual((await separated(SONG, { prompt: 'rain', separator: 'mini' })).models, ['mini'])
  assert.ok(await isInProgress(heldRequest))

  const unloading = engine.unloadModel('scnet')
  await until(async () => (await stateOf()) === 'UNLOADING')
  await until(async () => !(await listedModels()).includes('scnet'))
  process.kill(stopped, 'SIGCONT')
  assert.deepEqual((await resultOf(heldRequest)).models, ['scnet'])
  await unloading
  assert.deepEqual([await stateOf(), commandOf(stopped)], ['NOT_LOADED', ''])

  const killed = await loadStopped(engine)
  await until(async () => (await listedModels()).includes('scnet'))
  const again = await submit(SONG, { prompt: 'vocals', separator: 'scnet' })
  await until(() => isInProgress(again))
  process.kill(killed, 'SIGKILL')
  assert.deepEqual((await resultOf(again)).models, ['scnet'])
})

test('model processes end with their engine, even if it is killed', async () => {
  const pids = modelProcesses()
  assert.equal(pids.length, 3)
  await winnow.engines[0]!.end('SIGKILL')
  await until(() => pids.every((pid) => commandOf(pid) === ''))
})
