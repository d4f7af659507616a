/** Separates vocals from a song with the model that set-up downloads, from the command line. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { SUM_ERROR_MAX, sumError } from '../support/media/examples.ts'
import { noise, sine } from '../support/media/signals.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'
import { SONGS_MODEL_FOLDER, WITH_WEIGHTS } from '../support/models/spleeter-weights.ts'

let winnow: Winnow
before(async (t) => {
  if (WITH_WEIGHTS.skip) return
  const env = { SONGS_MODEL_DIR: SONGS_MODEL_FOLDER }
  winnow = await startWinnow(t as TestContext, { env })
})

/** Separates with the command line; returns its two files and the log of the request. */
async function separate(planes: Float32Array[], rate: number, prompt: string) {
  const song = join(winnow.folder, 'song.wav')
  await writeFile(song, wavBytes(planes, rate, 'float32'))
  const words = [
    'scripts/run.mjs',
    'scripts/cli/main.ts',
    'separate',
    song,
    prompt,
    '--force',
    '--logs',
  ]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...words, '--url', winnow.url, '--json'],
    { env: { ...process.env, WINNOW_API_KEY: API_KEY } },
  )
  const { files } = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
    files: Record<string, string>
  }
  const [target, residual] = await Promise.all(
    Object.values(files).map(async (file) => readWav24(await readFile(file))),
  )
  return { target: target!, residual: residual!, log: stdout }
}

test('vocals of a stereo song longer than a chunk, and all adds up', WITH_WEIGHTS, async () => {
  const song = [sine(220, 14, 44_100), noise(14, 44_100, 3)]
  const { target, residual, log } = await separate(song, 44_100, 'vocals')
  assert.match(log, /\\"vocals\\" is the stem vocals of spleeter\./)
  assert.deepEqual([target.sampleRate, target.planes.length], [44_100, 2])
  assert.ok(sumError(target.planes, residual.planes, song) <= SUM_ERROR_MAX)
})

test('an instrumental of a mono song at another rate, and all adds up', WITH_WEIGHTS, async () => {
  const song = [sine(330, 3, 22_050)]
  const { target, residual, log } = await separate(song, 22_050, 'karaoke')
  assert.match(log, /\\"karaoke\\" is all but the stem vocals of spleeter\./)
  assert.deepEqual([target.sampleRate, target.planes.length], [22_050, 1])
  assert.ok(sumError(target.planes, residual.planes, song) <= SUM_ERROR_MAX)
})

test('mini answers for drums, which are not among its stems', WITH_WEIGHTS, async () => {
  const { target } = await separate([noise(1, 44_100, 3)], 44_100, 'drums')
  assert.equal(target.planes.length, 1)
  const { data } = await winnow.client.list({ limit: 1 })
  assert.equal((await winnow.client.status(data[0]!.request_id)).separator, 'mini')
})
