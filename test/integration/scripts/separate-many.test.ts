/** The command-line client with many files, against a small server that speaks the spec. */

import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { separate } from '../../../scripts/separate/command.ts'
import { DONE, KEY, makeFolder, run, startService } from '../../support/separation-service.ts'

test('--jobs is how many files are worked on at once', { timeout: 60_000 }, async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t, 'a.mp3', 'b.mp3', 'c.mp3', 'd.mp3')
  service.streams = Array.from({ length: 5 }, () => DONE)
  const held: (() => void)[] = []
  let most = 0
  let left = 5
  service.holdUpload = async () => {
    left -= 1
    const answered = new Promise<void>((resolve) => held.push(resolve))
    // No answer before so many are held, or no other can come; a while is given to one too many.
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
})

test('Ctrl-C cancels the requests of many files', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t, 'a.mp3')
  service.streams = [['stay'], ['stay']]
  const controller = new AbortController()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const env = { WINNOW_URL: service.base, WINNOW_API_KEY: KEY }
  const words = [folder, 'x', '--jobs', '2', '--out', join(folder, 'out')]
  const ended = separate(words, { env, stdout, stderr, signal: controller.signal })
  while (service.streams.length > 0) await new Promise(setImmediate)
  controller.abort()
  assert.equal(await ended, 130)
  const canceled = service.calls.filter((call) => call.startsWith('PUT /v1/queue/requests'))
  assert.equal(canceled.length, 2)
})

test('of many files: a video that is missing is fetched, and what was whole is not', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  service.hasVideo = true
  service.streams = [DONE, DONE]
  const out = join(folder, 'out')
  const words = [folder, 'x', '--out', out]
  service.refuse = { 'GET /signed/residual-video': [503, ''] }
  assert.equal((await run(service, ...words)).code, 1)
  service.refuse = {}
  const again = await run(service, ...words)
  assert.match(again.errors, /1 separated/)
  assert.ok((await readdir(out)).includes('song.rest.mp4'))
  assert.match((await run(service, ...words)).errors, /1 there already/)
})

test('of many addresses: names are as people read them, and each secret is shown', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  service.streams = [DONE, DONE]
  const addresses = ['https://example.com/my%20talk.mp4', 'https://example.com/b.mp4']
  const words = [...addresses, 'x', '--out', folder, '--webhook', 'https://example.com/hook']
  const { code, errors } = await run(service, ...words)
  assert.equal(code, 0, errors)
  assert.ok((await readdir(folder)).includes('my talk.x.wav'))
  for (const address of addresses) {
    assert.ok(errors.includes(`${address}: webhook signing secret, shown only now: whsec_made\n`))
  }
})

test('a refused key ends the whole batch at once', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  for (const name of ['a.wav', 'b.wav', 'c.wav']) await writeFile(join(folder, name), 'sound')
  const refusal = { error: { code: 'UNAUTHENTICATED', message: 'No such key.' } }
  service.refuse['POST /v1/files'] = [401, JSON.stringify(refusal)]
  const { code, errors } = await run(service, folder, 'a bell', '--jobs', '1', '--out', folder)
  assert.equal(code, 1)
  assert.match(errors, /4 files .*4 not begun[^]*UNAUTHENTICATED: No such key/)
  assert.deepEqual(service.calls, ['POST /v1/files'])
})
