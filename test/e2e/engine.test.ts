/** An engine as an admin sees it: its control plane, its log, `winnow top`, and an outage. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, type TestContext } from 'node:test'
import { top } from '../../scripts/cli/top/command.ts'
import { connectEngine, type EngineStats } from '../../shared/engine-control.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { runCommand } from '../support/processes/run-command.ts'
import {
  followToEnd,
  keepingBusy,
  separateFile,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'

delete process.env.TF_CPP_MIN_LOG_LEVEL // engines would inherit it

const ADMIN_TOKEN = 'the-admin-token-of-this-test'

let winnow: Winnow
before(async (t) => {
  const env = { ADMIN_TOKEN, ENGINE_ID: 'the-engine', BATCH_FRAMES_MAX: '2048' }
  winnow = await startWinnow(t as TestContext, { env })
})

/** Resolves with the first statistics of the engine that match. */
function statsOf(isMatch: (stats: EngineStats) => boolean): Promise<EngineStats> {
  const engine = connectEngine(winnow.engines[0]!.ready.control!)
  return new Promise((resolve) => {
    const stop = engine.watchStats(100, (stats) => {
      if (!isMatch(stats)) return
      stop()
      engine.close()
      resolve(stats)
    })
  })
}

async function writeNoise(seconds: number): Promise<string> {
  const path = join(winnow.folder, 'noise.wav')
  await writeFile(path, wavBytes([noise(seconds, 8_000)], 8_000))
  return path
}

test('an engine logs nothing from the native library, and applies a changed batch budget', async (t) => {
  const engine = connectEngine(winnow.engines[0]!.ready.control!)
  t.after(() => engine.close())
  assert.equal((await engine.describe()).batch_frames_max, 2_048)
  assert.equal(await engine.setBatching(512), 512)
  assert.equal((await engine.describe()).batch_frames_max, 512)
  assert.equal((await statsOf(() => true)).batch_frames_max, 512)
  assert.doesNotMatch(winnow.engines[0]!.log(), /cpu_feature_guard/)
})

const runTop = (words: string[], env = {}) =>
  runCommand(top, ['--url', winnow.url, ...words], { env })

test('top shows the engine, its work and its failures, again and again', async () => {
  const bad = join(winnow.folder, 'bad.wav')
  await writeFile(bad, 'this is no sound')
  await separateFile(winnow, await writeNoise(3), { prompt: 'noise' })
  const { submitted } = await separateFile(winnow, bad, { prompt: 'noise' })
  await statsOf(({ jobs }) => jobs === 0)
  const { text, errors, code } = await runTop(['--once'], { ADMIN_TOKEN })
  assert.deepEqual([errors, code], ['', 0])
  assert.match(text, /^the-engine +\S+ +mini +cpu +READY +0\/\d+ +0 +\d+ % +\d+\.\d /m)
  assert.match(text, /0 waiting \(the oldest for 0 s\), 0 in progress/)
  assert.match(text, RegExp(`INVALID_MEDIA +${submitted.request_id} +the-engine `))
  assert.equal(text.includes('\x1b'), false)

  await writeFile(join(winnow.folder, 'admin-token'), `${ADMIN_TOKEN}\n`)
  const local = await runTop(['--once'], { DATA_DIR: winnow.folder })
  assert.match(local.text, /^the-engine/m, 'the token that npm start leaves')

  const screens: string[] = []
  const stop = new AbortController()
  const stdout = {
    isTTY: true,
    write(text: string) {
      if (screens.push(text) === 2) stop.abort()
    },
  }
  const words = ['--interval', '1', '--url', winnow.url, '--token', ADMIN_TOKEN]
  assert.equal((await runCommand(top, words, { stdout, signal: stop.signal })).code, 0)
  assert.equal(screens.length, 2)
  for (const screen of screens) assert.match(screen, /^\x1b\[H\x1b\[2JWinnow at [^]*the-engine/)
})

test('top says what is wrong with its token', async () => {
  const wrong = await runTop(['--once', '--token', 'another-admin-token'])
  assert.deepEqual([wrong.code, wrong.errors], [1, 'The gateway has another ADMIN_TOKEN.\n'])
  assert.equal((await runTop(['--once'])).code, 2)
})

test('an outage of the media store costs neither finished work nor an attempt', async () => {
  const submitted = await submitFile(winnow, await writeNoise(30), keepingBusy(4))
  await statsOf(({ lanes }) => lanes > 0)
  await winnow.gateway.end('SIGKILL')
  await statsOf(({ state }) => state === 'PAUSED')
  const { code, errors } = await runTop(['--once'], { ADMIN_TOKEN })
  assert.deepEqual([code, errors.startsWith(`No answer from ${winnow.url}`)], [1, true])
  await winnow.startGateway()
  const last = (await followToEnd(winnow, submitted)).at(-1)
  assert.equal(last?.status, 'COMPLETED')
  const begun = last?.logs?.filter(({ message }) => message.startsWith('Decoding')) ?? []
  assert.equal(begun.length, 1)
  await statsOf(({ state }) => state === 'READY')
})
