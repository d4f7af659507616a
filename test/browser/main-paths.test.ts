/**
 * Each main path once, with real parts: the command line, the page, gRPC, a webhook, and an engine
 * that is killed. `npm test` runs it; the other files of this folder go further.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { anyChromium, launchBrowser } from '../support/page/browser.ts'
import { nullTest, separated } from './playground.ts'
import { examplePath, readWav16, SUM_ERROR_MAX, sumError } from '../support/media/examples.ts'
import { separationClient } from '../support/clients/separation-client.ts'
import { noise } from '../support/media/signals.ts'
import {
  API_KEY,
  downloadResult,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'
import { startReceiver } from '../support/http/webhook-receiver.ts'

const SOURCE = examplePath('speech-over-piano.wav')
/** Long enough at the slowest setting to kill an engine midway. */
const LONG_SECONDS = 60

let winnow: Winnow
before(async (t) => {
  winnow = await startWinnow(t as TestContext, { env: { EGRESS_ALLOW_CIDRS: '127.0.0.0/8' } })
})

test('the command line writes both files, which add up to the original', async () => {
  const folder = join(winnow.folder, 'cli')
  await mkdir(folder)
  const input = join(folder, 'mix.wav')
  await copyFile(SOURCE, input)
  const words = ['scripts/run.mjs', 'scripts/cli/main.ts', 'separate', input, 'piano']
  const env = { ...process.env, WINNOW_URL: winnow.url, WINNOW_API_KEY: API_KEY }
  const { stdout } = await promisify(execFile)(process.execPath, words, { env })
  assert.match(stdout, /6\.0 s of audio in .*times real time/)
  const written = (await readdir(folder)).filter((name) => name !== 'mix.wav')
  assert.equal(written.length, 2, written.join())
  const [one, other] = await Promise.all(
    written.map(async (name) => readWav24(await readFile(join(folder, name)))),
  )
  const sum = sumError(one!.planes, other!.planes, await readWav16(SOURCE))
  assert.ok(sum <= SUM_ERROR_MAX, `${sum}`)
})

test('the page separates an example, and its null test says that nothing is lost', async (t) => {
  const browser = await launchBrowser(t, await anyChromium())
  const page = await separated({ t, winnow, browser }, 'piano')
  const { peakDb, verdict } = await nullTest(page)
  assert.ok(peakDb < -130, verdict)
})

test('gRPC: a request is submitted and watched to its end', async (t) => {
  const client = separationClient(winnow.gateway.ready.grpc!, API_KEY)
  t.after(() => client.close())
  const fileId = await winnow.client.upload(SOURCE, 'audio/wav')
  const submitted = await client.call('Submit', { input: { prompt: 'piano', file_id: fileId } })
  const statuses: string[] = []
  for await (const { status } of client.watch({ request_id: submitted.request_id })!) {
    statuses.push(status)
  }
  assert.equal(statuses.at(-1), 'COMPLETED')
})

test('a webhook reports the end, signed with the secret of the request', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answerAll(204)
  const secret = 'a secret of the client'
  const { request_id: requestId } = await winnow.client.submit({
    input: { prompt: 'piano', file_id: await winnow.client.upload(SOURCE, 'audio/wav') },
    webhookUrl: receiver.url,
    webhookSecret: secret,
    metadata: { order: 7 },
  })
  const { headers, body } = await receiver.next()
  const verifier = new Webhook(secret, { format: 'raw' })
  const event = verifier.verify(body, headers as Record<string, string>) as Record<string, unknown>
  assert.deepEqual(
    [event.type, event.request_id, event.metadata],
    ['audio.separate.completed', requestId, { order: 7 }],
  )
})

test('another engine finishes the job of a killed one', async () => {
  const path = join(winnow.folder, 'long.wav')
  await writeFile(path, wavBytes([noise(LONG_SECONDS, 8_000)], 8_000))
  const submitted = await submitFile(winnow, path, { prompt: 'noise', acceleration: 'quality' })
  let next: Promise<unknown> | undefined
  const statuses = []
  for await (const status of winnow.client.follow(submitted)) {
    statuses.push(status)
    if (status.status !== 'IN_PROGRESS' || !status.progress) continue
    next ??= winnow.engines[0]!.end('SIGKILL').then(() => winnow.startEngine())
  }
  assert.ok(next, 'it was in progress')
  await next
  assert.equal(statuses.at(-1)?.status, 'COMPLETED')
  const { target } = await downloadResult(winnow, submitted)
  assert.equal(readWav24(target).planes[0]?.length, LONG_SECONDS * 8_000)
})
