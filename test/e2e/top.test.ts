/** `npm run winnow -- top` with a running Winnow. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { top } from '../../scripts/cli/top/command.ts'
import { noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { separateFile, startWinnow } from '../support/processes/start-winnow.ts'

const TOKEN = 'the-admin-token-of-this-test'

test('top shows the engine, its work and its failures, and reports its own errors', async (t) => {
  const winnow = await startWinnow(t, { env: { ADMIN_TOKEN: TOKEN, ENGINE_ID: 'engine-of-top' } })
  const [good, bad] = [join(winnow.folder, 'noise.wav'), join(winnow.folder, 'bad.wav')]
  await writeFile(good, wavBytes([noise(3, 8_000)], 8_000))
  await writeFile(bad, 'this is no sound')
  await separateFile(winnow, good, { prompt: 'noise' })
  const { submitted } = await separateFile(winnow, bad, { prompt: 'noise' })

  const run = (words: string[], env = {}) => runCommand(top, words, { env })
  const shown = await run(['--once', '--url', winnow.url], { ADMIN_TOKEN: TOKEN })
  assert.equal(shown.errors, '')
  assert.equal(shown.code, 0)
  assert.match(shown.text, /^engine-of-top +\S+ +mini +cpu +READY +0\/\d+ +0 +\d+ % +\d+\.\d /m)
  assert.match(shown.text, /0 waiting \(the oldest for 0 s\), 0 in progress/)
  assert.match(shown.text, RegExp(`INVALID_MEDIA +${submitted.request_id} +engine-of-top `))
  assert.equal(shown.text.includes('\x1b'), false)

  await writeFile(join(winnow.folder, 'admin-token'), `${TOKEN}\n`)
  const local = await run(['--once', '--url', winnow.url], { DATA_DIR: winnow.folder })
  assert.match(local.text, /^engine-of-top/m, 'the token that npm start leaves')

  const screens: string[] = []
  const stop = new AbortController()
  const stdout = {
    isTTY: true,
    write(text: string) {
      screens.push(text)
      if (screens.length === 2) stop.abort()
    },
  }
  const words = ['--interval', '1', '--url', winnow.url, '--token', TOKEN]
  assert.equal((await runCommand(top, words, { stdout, signal: stop.signal })).code, 0)
  assert.equal(screens.length, 2)
  for (const look of screens) assert.match(look, /^\x1b\[H\x1b\[2JWinnow at [^]*engine-of-top/)

  const wrong = await run(['--once', '--url', winnow.url, '--token', 'another-admin-token'])
  assert.deepEqual([wrong.code, wrong.errors], [1, 'The gateway has another ADMIN_TOKEN.\n'])
  await winnow.gateway.end('SIGKILL')
  const away = await run(['--once', '--url', winnow.url, '--token', TOKEN])
  assert.deepEqual([away.code, away.errors.startsWith(`No answer from ${winnow.url}`)], [1, true])
  assert.equal((await run(['--once'])).code, 2)
})
