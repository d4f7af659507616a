/** The command line over a folder of files, interrupted once. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { basename, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { examplePath, readWav16 } from '../../support/media/examples.ts'
import { API_KEY, followToEnd } from '../../support/processes/start-winnow.ts'
import { winnow } from './winnow.ts'
import { readWav24 } from '../../support/media/wav.ts'

const COMMAND = fileURLToPath(new URL('../../../scripts/cli/main.ts', import.meta.url))
const FILES = 10
const THERE = ': already separated (--force separates it again)'
const REST = 'rest.without-piano+speech'

/** Runs the command; interrupts it with SIGINT after `linesMax` lines. */
async function run(t: TestContext, words: string[], linesMax = Infinity) {
  const child = spawn(
    process.execPath,
    ['scripts/run.mjs', COMMAND, 'separate', ...words, '--url', winnow.url],
    { env: { ...process.env, WINNOW_API_KEY: API_KEY }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const lines: string[] = []
  let problems = ''
  child.stderr.on('data', (piece) => (problems += String(piece)))
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (lines.length === linesMax) child.kill('SIGINT')
  }
  const [code] = (await ended) as [number]
  return { code, lines, problems }
}

/** Returns the targets of the last request. All requests for one file have the same targets. */
async function targetsOfLast(): Promise<Float32Array[][]> {
  const { client } = winnow
  const { data } = await client.list({ limit: 1 })
  const { targets = [] } = (await client.result(data[0]!)).data
  return Promise.all(
    targets.map(async ({ url }) => {
      return readWav24(Buffer.from(await (await client.open(url)).arrayBuffer())).planes
    }),
  )
}

/** Returns the sum of the squared differences of two sounds. */
const distanceTo = (one: Float32Array[]) => (other: Float32Array[] | undefined) =>
  one.reduce(
    (all, plane, c) => plane.reduce((sum, x, i) => sum + (x - other![c]![i]!) ** 2, all),
    0,
  )

test('separating a folder with two prompts resumes after an interruption', async (t) => {
  const [songs, stems] = [join(winnow.folder, 'songs'), join(winnow.folder, 'stems')]
  await mkdir(songs)
  const bytes = await readFile(examplePath('speech-over-piano.wav'))
  const names = Array.from({ length: FILES }, (_, i) => `song ${String(i).padStart(2, '0')}`)
  for (const name of names) await writeFile(join(songs, `${name}.wav`), bytes)
  await writeFile(join(songs, 'notes.txt'), 'no media')
  const words = [songs, 'piano', 'Speech!', '--out', stems, '--jobs', '3']

  const first = await run(t, words, 5)
  assert.equal(first.code, 130)
  assert.match(
    first.problems,
    RegExp(
      `^${FILES} files in .* s: \\d+ separated, \\d+ not finished: run the same command again to continue$`,
      'm',
    ),
  )
  const listed = (await winnow.client.list({ limit: 100 })).data
  const data = listed.filter(({ file_name: name }) => name?.startsWith('song '))
  for (const request of data) await followToEnd(winnow, request.request_id)
  const sourcesIn = (lines: string[]) =>
    lines.filter((line) => line.includes(': ')).map((line) => line.replace(/: .*/, ''))
  const done = sourcesIn(first.lines)
  assert.ok(done.length >= 1 && data.length < FILES, 'it stopped')
  for (const part of ['piano', 'speech', REST]) {
    await rm(join(stems, basename(done[0]!).replace('.wav', `.${part}.wav`)))
  }

  const second = await run(t, words)
  assert.equal(second.code, 0, second.problems)
  const skipped = second.lines.filter((line) => line.endsWith(THERE))
  assert.deepEqual(
    skipped.map((line) => line.replace(THERE, '')).sort(),
    done.slice(1).sort(),
    'what was whole, and nothing else',
  )
  assert.match(
    second.problems,
    new RegExp(`: \\d+ separated, ${skipped.length} already separated$`, 'm'),
  )
  const expected = names.flatMap((name) =>
    ['piano', REST, 'speech'].map((part) => `${name}.${part}.wav`),
  )
  assert.deepEqual((await readdir(stems)).sort(), expected.sort())

  const mixture = await readWav16(examplePath('speech-over-piano.wav'))
  for (const name of [names[0]!, names[FILES - 1]!]) {
    const parts = await Promise.all(
      ['piano', 'speech', REST].map(
        async (part) => readWav24(await readFile(join(stems, `${name}.${part}.wav`))).planes,
      ),
    )
    const [piano, speech] = parts
    const [target, other] = await targetsOfLast()
    const distances = [piano, speech].map((stem) => [target, other].map(distanceTo(stem!)))
    assert.ok(distances[0]![0]! < distances[0]![1]!, `${name}: the piano is the first target`)
    assert.ok(distances[1]![1]! < distances[1]![0]!, `${name}: the speech is the second`)
    const largest = mixture.map((plane, c) =>
      plane.reduce((most, x, i) => {
        const sum = parts.reduce((total, planes) => total + planes[c]![i]!, 0)
        return Math.max(most, Math.abs(sum - x))
      }, 0),
    )
    assert.ok(Math.max(...largest) < 2 ** -21, `${name}: targets and rest add up to the mixture`)
  }
  const third = await run(t, [join(songs, '*.wav'), ...words.slice(1)])
  assert.equal(third.lines.filter((line) => line.endsWith(THERE)).length, FILES)
})

test('a file that fails is named, and the others are separated', async (t) => {
  const out = join(winnow.folder, 'out')
  const bad = join(winnow.folder, 'bad.wav')
  await writeFile(bad, 'no media')
  const good = examplePath('speech-over-piano.wav')
  const { code, lines, problems } = await run(t, [
    ...[bad, good, 'piano', '--out', out, '--format', 'mp3', '--logs'],
  ])
  assert.equal(code, 1)
  assert.match(problems, /bad\.wav: INVALID_MEDIA/)
  assert.match(problems, /^.*speech-over-piano\.wav: 20\S+Z .*pcm_s16le/m, 'its log')
  assert.match(problems, /2 files in .*: 1 separated, 1 failed/)
  assert.equal(lines.length, 3, 'two files, and what became of the source')
  const outputs = await readdir(out)
  assert.deepEqual(outputs.sort(), [
    'speech-over-piano.piano.mp3',
    'speech-over-piano.rest.without-piano.mp3',
  ])
  for (const name of outputs) {
    const start = (await readFile(join(out, name))).subarray(0, 3)
    assert.ok(start.equals(Buffer.from('ID3')) || start[0] === 0xff, `${name} is an MP3 file`)
  }
})
