/** Several models behind one prompt, as a user installs and asks for them. Their weights are random. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { noise, sine } from '../harness/signals.ts'
import { startWinnow, type Winnow } from '../harness/start-winnow.ts'
import { TINY_MODELS } from '../support/tiny-models.ts'
import { readWav24, wavBytes } from '../harness/wav.ts'

/** Error of 24 bits in each output. */
const ROUNDING = 4 / 2 ** 23

const RATE = 48_000
const SECONDS = 2.3

let winnow: Winnow
let modelsFolder: string

before(async (t) => {
  modelsFolder = mkdtempSync(join(tmpdir(), 'several-models-'))
  ;(t as TestContext).after(() => rmSync(modelsFolder, { recursive: true }))
  for (const name of ['htdemucs', 'audiosep', 'bandit']) {
    const words = ['scripts/run.mjs', 'scripts/cli/model.ts', 'import', ...TINY_MODELS[name]!]
    const env = { ...process.env, MODELS_DIR: modelsFolder }
    const { stdout } = await promisify(execFile)(process.execPath, words, { env })
    assert.match(stdout, RegExp(`^Installed ${name} in `))
  }
  winnow = await startWinnow(t as TestContext, { env: { MODELS_DIR: modelsFolder } })
})

interface Asked {
  prompt?: string
  prompts?: string[]
  separator?: string
}

/** [outputs][channels], and the models of the targets. */
async function separated(planes: Float32Array[], asked: Asked) {
  const path = join(winnow.folder, 'source.wav')
  await writeFile(path, wavBytes(planes, RATE, 'float32'))
  const { client } = winnow
  const file_id = await client.upload(path, 'audio/wav')
  const { request_id } = await client.submit({ input: { file_id, ...asked } })
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

test('a film: dialogue and effects by the model that has them', async () => {
  const answer = await separated(SONG, { prompts: ['dialogue', 'sound effects'] })
  assert.deepEqual(answer.models, ['bandit', 'bandit'])
  assertAddsUp(answer)
  assert.match(answer.logs, /"dialogue" is the stem speech of bandit\./)
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
