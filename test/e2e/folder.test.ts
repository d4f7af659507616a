/** The command line over a folder of files, interrupted once. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { examplePath, readWav16 } from '../support/examples.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/start-winnow.ts'
import { readWav24 } from '../support/wav.ts'

const COMMAND = fileURLToPath(new URL('../../scripts/separate.ts', import.meta.url))
const FILES = 20

/** Runs the command; after `linesMax` lines it gets Ctrl-C. */
async function run(t: TestContext, { url }: Winnow, words: string[], linesMax = Infinity) {
  const child = spawn(process.execPath, ['--import', 'tsx', COMMAND, ...words, '--url', url], {
    env: { ...process.env, WINNOW_API_KEY: API_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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

test('a folder of files, two prompts: interrupted, it goes on where it was', async (t) => {
  const winnow = await startWinnow(t)
  const [songs, stems] = [join(winnow.folder, 'songs'), join(winnow.folder, 'stems')]
  await mkdir(songs)
  const bytes = await readFile(examplePath('speech-over-piano.wav'))
  const names = Array.from({ length: FILES }, (_, i) => `song ${String(i).padStart(2, '0')}`)
  for (const name of names) await writeFile(join(songs, `${name}.wav`), bytes)
  await writeFile(join(songs, 'notes.txt'), 'no media')
  const words = [songs, 'piano', 'Speech!', '--out', stems, '--jobs', '3']

  const first = await run(t, winnow, words, 5)
  assert.equal(first.code, 130)
  assert.match(first.problems, /of? 20 files|20 files in .* the same command goes on/)
  const { data } = await winnow.client.list({ limit: 100 })
  const last = await Promise.all(
    data.map(async ({ request_id: id }) => {
      for await (const { status } of winnow.client.follow(id)) if (status === 'COMPLETED') return 1
      return 0
    }),
  )
  assert.ok(last.length < FILES, 'it stopped, and what it left has ended')

  const second = await run(t, winnow, words)
  assert.equal(second.code, 0, second.problems)
  const skipped = second.lines.filter((line) => line.endsWith(': there')).length
  assert.ok(skipped >= 5 && skipped < FILES, `${skipped} files were there`)
  const expected = names.flatMap((name) =>
    ['piano', 'rest', 'speech'].map((part) => `${name}.${part}.wav`),
  )
  assert.deepEqual((await readdir(stems)).sort(), expected.sort())

  const mixture = await readWav16(examplePath('speech-over-piano.wav'))
  for (const name of [names[0]!, names[FILES - 1]!]) {
    const parts = await Promise.all(
      ['piano', 'speech', 'rest'].map(
        async (part) => readWav24(await readFile(join(stems, `${name}.${part}.wav`))).planes,
      ),
    )
    const largest = mixture.map((plane, c) =>
      plane.reduce((most, x, i) => {
        const sum = parts.reduce((total, planes) => total + planes[c]![i]!, 0)
        return Math.max(most, Math.abs(sum - x))
      }, 0),
    )
    assert.ok(Math.max(...largest) < 2 ** -21, `${name}: targets and rest add up to the mixture`)
  }
  const third = await run(t, winnow, [join(songs, '*.wav'), ...words.slice(1)])
  assert.equal(third.lines.filter((line) => line.endsWith(': there')).length, FILES)
})

test('a file that fails is named, and costs no other', async (t) => {
  const winnow = await startWinnow(t)
  const bad = join(winnow.folder, 'bad.wav')
  await writeFile(bad, 'no media')
  const good = examplePath('speech-over-piano.wav')
  const { code, lines, problems } = await run(t, winnow, [
    ...[bad, good, 'piano', '--out', winnow.folder, '--format', 'mp3'],
  ])
  assert.equal(code, 1)
  assert.match(problems, /bad\.wav: INVALID_MEDIA/)
  assert.match(problems, /2 files in .*: 1 separated, 1 failed/)
  assert.equal(lines.length, 1)
  const made = (await readdir(winnow.folder)).filter((name) => /piano|rest/.test(name))
  assert.deepEqual(made.sort(), ['speech-over-piano.piano.mp3', 'speech-over-piano.rest.mp3'])
})
