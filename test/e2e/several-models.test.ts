/** Several models behind one prompt, as a user installs and asks for them. Their weights are random. */

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

/** Error of 24 bits in each output. */
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

async function submit(planes: Float32Array[], asked: SubmitFields): Promise<string> {
  const path = join(winnow.folder, 'source.wav')
  await writeFile(path, wavBytes(planes, RATE, 'float32'))
  const file_id = await winnow.client.upload(path, 'audio/wav')
  const { request_id } = await winnow.client.submit({ input: { file_id, ...asked } })
  return request_id
}

const separated = async (planes: Float32Array[], asked: SubmitFields) =>
  separatedBy(await submit(planes, asked))

/** [outputs][channels], and the models of the targets. */
async function separatedBy(request_id: string) {
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

test('a song: each stem by the model that has it, in stereo at 48 kHz, and all adds up', async () => {
  const answer = await separated(SONG, { prompts: ['vocals', 'the drums'] })
  assert.deepEqual(answer.models, ['htdemucs', 'htdemucs'])
  assertAddsUp(answer)
  assert.match(answer.logs, /"vocals" is the stem vocals of htdemucs\./)
  assert.ok(answer.files[0]!.planes[0]!.some((x) => Math.abs(x) > 1e-3))
})

test('a podcast: any other sound goes to the model for text', async () => {
  const answer = await separated(SONG, { prompt: 'washing machine' })
  assert.deepEqual(answer.models, ['audiosep'])
  assertAddsUp(answer)
})

test('prompts of one request go to several models, and one can be named', async () => {
  const several = await separated(SONG, { prompts: ['no vocals', 'rain'] })
  assert.deepEqual(several.models, ['htdemucs', 'audiosep'])
  assertAddsUp(several)
  const named = await separated(SONG, { prompt: 'rain', separator: 'mini' })
  assert.deepEqual(named.models, ['mini'])
  assertAddsUp(named)
})

test('a model that no engine holds is refused, with those that there are', async () => {
  await assert.rejects(separated(SONG, { prompt: 'rain', separator: 'flute' }), /htdemucs/)
})

/** The processes of models that the engine has now. */
function processes(): number[] {
  const { pid } = winnow.engines[0]!.child
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children
    .split(' ')
    .filter((child) => child !== '')
    .map(Number)
    .filter((child) => commandOf(child).includes('process-main'))
}

/** Empty of a process that has ended. */
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

/** The models that the gateway knows of. */
async function listed(): Promise<string[]> {
  const { data } = await winnow.client.models()
  return data.flatMap(({ separators = [] }) => separators.map(({ name }) => name))
}

/** Loads scnet; its process, which is stopped: a step of it lasts until it goes on. */
async function loadStopped(engine: EngineClient): Promise<number> {
  const before = processes()
  assert.deepEqual([before.length, (await engine.loadModel('scnet')).name], [2, 'scnet'])
  const [pid] = processes().filter((each) => !before.includes(each))
  process.kill(pid!, 'SIGSTOP')
  return pid!
}

test('a model that is installed while the engine runs is loaded, computes apart, and is unloaded', async (t) => {
  const engine = connectEngine(winnow.engines[0]!.ready.control!)
  t.after(() => engine.close())
  const stateOf = async () =>
    (await engine.listModels()).find(({ name }) => name === 'scnet')?.state
  const isInHand = async (id: string) => (await winnow.client.status(id)).status === 'IN_PROGRESS'
  assert.equal(await stateOf(), undefined)
  await install('scnet')
  assert.equal(await stateOf(), 'NOT_LOADED')
  const stopped = await loadStopped(engine)
  await until(async () => (await listed()).includes('scnet'))
  const held = await submit(SONG, { prompt: 'vocals', separator: 'scnet' })
  await until(() => isInHand(held))
  assert.deepEqual((await separated(SONG, { prompt: 'rain', separator: 'mini' })).models, ['mini'])
  assert.ok(await isInHand(held))

  const unloading = engine.unloadModel('scnet')
  await until(async () => (await stateOf()) === 'UNLOADING')
  await until(async () => !(await listed()).includes('scnet'))
  process.kill(stopped, 'SIGCONT')
  assert.deepEqual((await separatedBy(held)).models, ['scnet'])
  await unloading
  assert.deepEqual([await stateOf(), commandOf(stopped)], ['NOT_LOADED', ''])

  const killed = await loadStopped(engine)
  await until(async () => (await listed()).includes('scnet'))
  const again = await submit(SONG, { prompt: 'vocals', separator: 'scnet' })
  await until(() => isInHand(again))
  process.kill(killed, 'SIGKILL')
  assert.deepEqual((await separatedBy(again)).models, ['scnet'])
})

test('the processes of models end with their engine, even when it is killed', async () => {
  const pids = processes()
  assert.equal(pids.length, 3)
  await winnow.engines[0]!.end('SIGKILL')
  await until(() => pids.every((pid) => commandOf(pid) === ''))
})
