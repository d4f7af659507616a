/** The command-line client with many files and a small server that implements the API. */

import assert from 'node:assert/strict'
import { readdir, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { separate } from '../../../../scripts/cli/separate/command.ts'
import { SONG_HINT } from '../../../../shared/prompts/song-hint.ts'
import { OUTPUT_MARK } from '../../../../shared/output-mark.ts'
import {
  DONE,
  KEY,
  LOGS,
  run,
  runWith,
  start,
  status,
} from '../../../support/clients/separation-service.ts'
import { runCommand } from '../../../support/processes/run-command.ts'

test('--jobs sets how many files are in progress at once', { timeout: 60_000 }, async (t) => {
  const { service, folder } = await start(t, 'a.mp3', 'b.mp3', 'c.mp3', 'd.mp3')
  service.streams = Array.from({ length: 5 }, () => DONE)
  const held: (() => void)[] = []
  let most = 0
  let left = 5
  service.holdUpload = async () => {
    left -= 1
    const answered = new Promise<void>((resolve) => held.push(resolve))
    // Answers once three are held or no more can come, and then waits a while for one too many.
    if (held.length === 3 || left === 0) {
      for (let turn = 0; turn < 500; turn += 1) await new Promise(setImmediate)
      most = Math.max(most, held.length)
      for (const answer of held.splice(0)) answer()
    }
    await answered
  }
  const words = [folder, 'x', '--jobs', '3', '--out', join(folder, 'out')]
  const { code, errors } = await run(service, ...words)
  assert.equal(code, 0, errors)
  assert.equal(most, 3)
  assert.equal(service.file?.content_type, 'audio/mpeg')
})

test('Ctrl-C cancels the requests of many files', async (t) => {
  const { service, folder } = await start(t, 'a.mp3')
  service.streams = [['stay'], ['stay']]
  const controller = new AbortController()
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const env = { WINNOW_URL: service.base, WINNOW_API_KEY: KEY }
  const words = [folder, 'x', '--jobs', '2', '--out', join(folder, 'out')]
  const ended = separate(words, { env, stdin, stdout, stderr, signal: controller.signal })
  while (service.streams.length > 0) await new Promise(setImmediate)
  controller.abort()
  assert.equal(await ended, 130)
  const canceled = service.calls.filter((call) => call.startsWith('PUT /v1/queue/requests'))
  assert.equal(canceled.length, 2)
})

test('a terminal shows the progress of all files, below the lines of each', async (t) => {
  const { service, folder } = await start(t, 'a.mp3', 'b.mp3')
  const half = status('IN_PROGRESS', { progress: 0.5 })
  service.streams = Array.from({ length: 3 }, () => [half, ...DONE])
  const [stdin, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })]
  const env = { WINNOW_URL: service.base, WINNOW_API_KEY: KEY }
  const own = { env, stdin, stderr, signal: new AbortController().signal }
  const words = [folder, 'x', '--jobs', '1', '--out', join(folder, 'out')]
  const { code, text } = await runCommand(separate, words, own)
  assert.equal(code, 0)
  assert.equal(text.match(/real time$/gm)?.length, 3)
  const output = String(stderr.read())
  assert.match(output, /0% 0 of 3 files/)
  assert.match(output, /\d+% [1-3] of 3 files, about \d+\w+ left/)
  assert.match(output, /\r\x1b\[K3 files in .* s: 3 separated\n$/, 'the bar is gone')
})

test('--task provides prompts and format unless they are given', async (t) => {
  const { service, folder, song } = await start(t)
  service.streams = Array.from({ length: 5 }, () => DONE)
  const task = async (...words: string[]) => {
    const out = join(folder, words.join('-'))
    const { code, errors } = await run(service, song, ...words, '--out', out)
    assert.equal(code, 0, errors)
    return { ...service.submission?.input, metadata: service.submission?.metadata }
  }
  const speech = { prompt: 'speech', output_format: 'wav', metadata: undefined }
  assert.deepEqual(await task('--task', 'speech'), speech)
  const stems = { prompts: ['drums', 'vocals'], output_format: 'flac' }
  assert.deepEqual(await task('--task', 'song'), { ...stems, metadata: undefined })
  const own = await task('--task', 'song', 'a bell', '--format', 'mp3')
  assert.deepEqual(own, { ...speech, prompt: 'a bell', output_format: 'mp3' })
  const removed = await task('--task', 'remove', 'a siren')
  const rest = { side: 'residual', metadata: { keeps: 'residual' } }
  assert.deepEqual(removed, { ...speech, prompt: 'a siren', ...rest })

  const needs = await run(service, song, '--task', 'remove')
  assert.deepEqual(
    [needs.code, needs.errors.split('\n')[0]],
    [2, '--task remove needs prompts here: name the sounds in quotes'],
  )
  const piped = await runWith(service, 'RIFF', ['-', '--task', 'remove', 'a siren'])
  assert.match(piped.out, /residual/, 'standard output holds what is kept')
  const wrong = await run(service, song, '--task', 'speach')
  assert.match(wrong.errors, /Did you mean "speech"\?/)
})

test("a better model for songs is suggested once for all files, if set-up's model answered", async (t) => {
  const { service, folder } = await start(t, 'a.mp3')
  const files = ['song.mp3', 'a.mp3'].map((name) => join(folder, name))
  const hints = async (separator: string, ...words: string[]) => {
    service.separator = separator
    service.streams = files.map(() => DONE)
    const own = ['--force', '--out', join(folder, 'out')]
    const { code, errors } = await run(service, ...files, ...words, ...own)
    assert.equal(code, 0, errors)
    return errors.split(SONG_HINT).length - 1
  }
  assert.equal(await hints('spleeter', 'vocals'), 1)
  assert.equal(await hints('spleeter', 'vocals', '--quiet'), 0)
  assert.equal(await hints('scnet', 'vocals'), 0)
  assert.equal(await hints('mini', 'a dog'), 0)
})

test('a file whose outputs exist is skipped, and a video belongs to its sound', async (t) => {
  const { service, folder } = await start(t)
  service.hasVideo = true
  service.streams = [DONE, DONE]
  const out = join(folder, 'out')
  const words = [folder, 'x', '--out', out]
  service.refuse = { 'GET /signed/residual-video': [503, ''] }
  assert.equal((await run(service, ...words)).code, 1)
  assert.deepEqual(await readdir(out), [], 'all or nothing')
  service.refuse = {}
  assert.match((await run(service, ...words)).errors, /^1 file in .* s: 1 separated$/m)
  assert.ok((await readdir(out)).includes('song.rest.without-x.mp4'))
  assert.match(
    (await run(service, ...words)).errors,
    /^1 file in .* s: 0 separated, 1 already separated$/m,
  )
})

test('a source newer than its outputs is reported, and counts with --strict', async (t) => {
  const { service, song } = await start(t)
  assert.equal((await run(service, song, 'x')).code, 0)
  const later = new Date(Date.now() + 60_000)
  await utimes(song, later, later)
  const again = await run(service, song, 'x', '--quiet')
  const message = `${song}: newer than its outputs (--force separates it again)\n`
  assert.deepEqual(again, { code: 0, out: '', errors: message })
  assert.equal((await run(service, song, 'x', '--strict')).code, 3)
  const { out } = await run(service, song, 'x', '--json')
  assert.equal((JSON.parse(out) as { source_is_newer: unknown }).source_is_newer, true)
})

test('a file whose name is not UTF-8 is skipped, but its folder is not', async (t) => {
  const { service, folder, song } = await start(t)
  const latin1 = Buffer.concat([
    Buffer.from(join(folder, 'caf')),
    Buffer.from('\xe9.mp3', 'latin1'),
  ])
  await writeFile(latin1, 'sound')
  try {
    const shownPath = join(folder, 'caf\uFFFD.mp3')
    const rest = ['x', '--out', join(folder, 'out')]
    for (const words of [[folder], [shownPath, song]]) {
      service.streams = [DONE]
      const { code, errors } = await run(service, ...words, ...rest, '--force')
      assert.equal(code, 1)
      assert.ok(errors.includes(`${shownPath}: its name is not UTF-8: rename the file\n`), errors)
      assert.match(errors, /^2 files in .* s: 1 separated, 1 failed$/m)
    }
  } finally {
    await unlink(latin1) // `rm` can't find it in the folder
  }
})

test('with --strict a file that is already done counts by the names of its outputs', async (t) => {
  const { service, folder, song } = await start(t)
  const names = ['song.everything-but-speech-not-kettle.wav', 'song.bell.wav']
  const residuals = ['song.rest.without-kettle.wav', 'song.rest.without-bell.wav']
  for (const name of [...names, ...residuals]) await writeFile(join(folder, name), '')
  const unknown = await run(service, song, 'kettle', '--strict')
  assert.equal(unknown.code, 3, unknown.errors)
  const file = join(folder, names[0]!)
  assert.equal(unknown.errors, `${song}: the model did not know the prompt of ${file}\n`)
  assert.equal((await run(service, song, 'kettle')).code, 0)
  assert.equal((await run(service, song, 'bell', '--strict')).code, 0)
  assert.ok(service.calls.every((call) => !call.startsWith('POST')))
})

test('outputs are not used as sources, whatever they are called', async (t) => {
  const { service, folder } = await start(t)
  const own = Buffer.from(`RIFF....WAVELIST....INFOITCH....${OUTPUT_MARK}`)
  await writeFile(join(folder, 'song.piano.wav'), own)
  await writeFile(join(folder, 'song.piano.mp4'), 'the video with it')
  await writeFile(join(folder, 'renamed.wav'), own)
  service.streams = [DONE]
  const { code, errors, out } = await run(service, folder, 'x')
  assert.equal(code, 0, errors)
  assert.match(errors, /^left out 3 outputs of earlier runs/)
  assert.deepEqual(out.match(/^.*real time$/gm)?.length, 1)
  const shell = ['song.mp3', 'song.piano.wav'].map((name) => join(folder, name))
  assert.match((await run(service, ...shell, 'x')).errors, /left out 1 output of .*\n1 file in/)

  const alone = join(folder, 'renamed.wav')
  service.streams = [DONE, DONE, DONE]
  assert.equal((await run(service, alone, 'y')).code, 0, 'by its name alone it is a source')
  const stems = [alone, join(folder, 'song.piano.wav')]
  assert.match((await run(service, ...stems, 'z')).errors, /^2 files in .*: 2 separated$/m)
})

test('with many addresses, names are readable, and each secret is shown', async (t) => {
  const { service, folder } = await start(t)
  service.streams = [DONE, DONE]
  const addresses = ['https://example.com/my%20talk.mp4', 'https://example.com/?file=a/b.mp4']
  const words = [...addresses, 'x', '--out', folder, '--webhook', 'https://example.com/hook']
  const { code, errors } = await run(service, ...words)
  assert.equal(code, 0, errors)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.x.wav'))
  assert.match(names.sort().join(' '), /^b-[0-9a-f]{8}\.x\.wav my talk-[0-9a-f]{8}\.x\.wav$/)
  for (const address of addresses) {
    assert.ok(errors.includes(`${address}: webhook signing secret, shown only now: whsec_made\n`))
  }
})

test('addresses with the same ending are separate sources; a repeated address is already done', async (t) => {
  const { service, folder } = await start(t)
  const addresses = ['a.test/1/talk.mp3', 'a.test/2/talk.mp3', 'a.test/2/talk.mp3?id=3']
  service.streams = Array.from({ length: 3 }, () => DONE)
  for (const address of addresses) {
    const { code, out, errors } = await run(service, `https://${address}`, 'x', '--out', folder)
    assert.equal(code, 0, errors)
    assert.doesNotMatch(out, /already separated/)
  }
  const all = addresses.map((address) => `https://${address}`)
  const again = await run(service, ...all, 'x', '--out', folder)
  assert.match(again.errors, /^3 files in .* s: 0 separated, 3 already separated$/m)
})

test('with many files, --logs prints the log of each, under its name', async (t) => {
  const { service, folder, song } = await start(t, 'talk.mp3')
  const words = [folder, 'x', '--jobs', '1', '--out', join(folder, 'out'), '--logs']
  const failure = { code: 'NO_AUDIO_STREAM', message: 'The media has no audio stream.' }
  const ends = [DONE, [status('FAILED', { error: failure, logs: LOGS })]]
  service.streams = [...ends, ...ends]
  const first = await run(service, ...words)
  assert.equal(first.code, 1)
  const talk = join(folder, 'talk.mp3')
  const logOf = (path: string | undefined) => `${path}: 2026-01-01T00:00:00Z two chunks\n`
  const failed = `${talk}: NO_AUDIO_STREAM: The media has no audio stream.\n`
  assert.ok(first.errors.includes(logOf(song) + failed + logOf(talk) + '2 files in '))
  assert.ok(service.calls.includes('GET /v1/queue/requests/req_1/status/stream?logs=true'))
  const quiet = await run(service, ...words, '--quiet', '--force')
  assert.deepEqual(quiet.errors.match(/\w+\.mp3: \S+/g), [
    'talk.mp3: NO_AUDIO_STREAM:',
    'talk.mp3: 2026-01-01T00:00:00Z',
  ])

  service.streams = [DONE]
  const second = await run(service, ...words, '--json')
  const [there, separated] = second.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { state: string; logs: unknown })
  assert.deepEqual([there!.state, there!.logs], ['there', []])
  assert.deepEqual(separated!.logs, LOGS)
})

test('a refused key ends the whole batch at once', async (t) => {
  const { service, folder } = await start(t)
  for (const name of ['a.wav', 'b.wav', 'c.wav']) await writeFile(join(folder, name), 'sound')
  const refusal = { error: { code: 'UNAUTHENTICATED', message: 'No such key.' } }
  service.refuse['POST /v1/audio/separate'] = [401, JSON.stringify(refusal)]
  const { code, errors } = await run(service, folder, 'a bell', '--jobs', '1', '--out', folder)
  assert.equal(code, 1)
  assert.match(errors, /4 files .*4 not finished[^]*UNAUTHENTICATED: No such key/)
  assert.deepEqual(service.calls, ['POST /v1/audio/separate'])
})
