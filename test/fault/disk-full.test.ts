/** Disks fill up: refusals say so, nothing accepted is lost, and work continues once there is space. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectEngine, type EngineStats } from '../../shared/engine-control.ts'
import { assertSiren, examplePath } from '../support/media/examples.ts'
import { noise } from '../support/media/signals.ts'
import { mountSmallDisk, whyNoSmallDisk } from '../support/machine/small-disk.ts'
import {
  API_KEY,
  downloadResult,
  followToEnd,
  keepingBusy,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'
import { startReceiver } from '../support/http/webhook-receiver.ts'

const EXAMPLE = 'siren-and-speech'

interface Answer {
  status: number
  retryAfter: string | null
  body: { error?: { code: string; message: string }; problems?: string[]; database?: boolean }
}

async function call({ url }: Winnow, path: string, body?: object): Promise<Answer> {
  const reply = await fetch(new URL(path, url), {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: {
      authorization: `Bearer ${API_KEY}`,
      ...(body && { 'content-type': 'application/json' }),
    },
  })
  const retryAfter = reply.headers.get('retry-after')
  return { status: reply.status, retryAfter, body: (await reply.json()) as Answer['body'] }
}

const whenTrue = async (isTrue: () => Promise<boolean> | boolean) => {
  while (!(await isTrue())) await sleep(100)
}

/** Asserts that the request completes and that its target is the siren. */
async function assertSeparated(winnow: Winnow, submitted: Parameters<typeof followToEnd>[1]) {
  assert.equal((await followToEnd(winnow, submitted)).at(-1)?.status, 'COMPLETED')
  await assertSiren(await downloadResult(winnow, submitted))
}

const skipped = whyNoSmallDisk()
const options = skipped === null ? {} : { skip: skipped }

test('the disks of a gateway and an engine fill up in turn', options, async (t) => {
  const [data, scratch] = [await mountSmallDisk(t, 64), await mountSmallDisk(t, 128)]
  const webhooks = await startReceiver(t)
  webhooks.answerAll(200)
  const winnow = await startWinnow(t, {
    engines: 0,
    env: { DATA_DIR: data.folder, DISK_FREE_MB_MIN: '0', EGRESS_ALLOW_CIDRS: '127.0.0.1/32' },
    engineEnv: { SCRATCH_DIR: scratch.folder, DISK_FREE_MB_MIN: '16' },
  })
  const path = examplePath(`${EXAMPLE}.wav`)
  let stats: () => Promise<EngineStats>

  await t.test('a gateway refuses new requests, and completes what it accepted', async () => {
    const fileId = await winnow.client.upload(path, 'audio/wav')
    const submission = { input: { prompt: 'siren', file_id: fileId }, webhookUrl: webhooks.url }
    const accepted = await winnow.client.submit(submission)
    await data.fill()

    const refused = await call(winnow, '/v1/queue/audio/separate', submission)
    assert.deepEqual([refused.status, refused.body.error?.code], [503, 'SERVICE_UNAVAILABLE'])
    assert.match(refused.body.error?.message ?? '', /disk/)
    assert.equal(refused.retryAfter, '30')
    const ready = await call(winnow, '/readyz')
    assert.deepEqual([ready.status, ready.body.database], [503, false])
    assert.ok(ready.body.problems?.includes('The database takes no writes: its disk is full.'))
    const file = {
      file_name: 'x.wav',
      content_type: 'audio/wav',
      file_size: 9,
      purpose: 'audio.separate.input',
    }
    assert.equal((await call(winnow, '/v1/files', file)).status, 503)
    const status = await call(winnow, new URL(accepted.status_url).pathname)
    assert.equal(status.status, 200) // the database can still be read

    await winnow.startEngine() // it takes the job, but cannot store its events and outputs
    const control = connectEngine(winnow.engines[0]?.ready.control ?? '')
    t.after(() => control.close())
    stats = () => control.stats()
    await whenTrue(async () => (await stats()).state === 'PAUSED')
    assert.equal(winnow.gateway.child.exitCode, null)
    await data.free()

    await assertSeparated(winnow, accepted)
    const { body } = await webhooks.next()
    assert.equal(JSON.parse(String(body)).request_id, accepted.request_id)
    assert.equal((await call(winnow, '/readyz')).status, 200)
    await assertSeparated(winnow, await winnow.client.submit({ input: submission.input }))
  })

  await t.test('an engine releases its job, which completes once there is space', async () => {
    const long = join(winnow.folder, 'long.wav')
    await writeFile(long, wavBytes([noise(100, 8_000)], 8_000))
    const interrupted = await submitFile(winnow, long, keepingBusy(2))
    for await (const { progress } of winnow.client.follow(interrupted)) {
      if ((progress ?? 0) > 0) break
    }
    await scratch.fill()
    await whenTrue(async () => (await stats()).state === 'PAUSED' && (await stats()).jobs === 0)
    const waiting = await submitFile(winnow, path, { prompt: 'siren' })
    await whenTrue(async () => {
      const { status } = await winnow.client.status(interrupted.request_id)
      assert.notEqual(status, 'COMPLETED', 'the disk was not full in time')
      return status === 'IN_QUEUE'
    })
    assert.match(winnow.engines[0]!.log(), /the disk of SCRATCH_DIR is full: leasing no job/)
    await scratch.free()
    assert.equal((await followToEnd(winnow, interrupted)).at(-1)?.status, 'COMPLETED')
    await assertSeparated(winnow, waiting)
    assert.match(winnow.gateway.log(), /"event":"released"/)
  })
})

test('uploads are refused with 502 below DISK_FREE_MB_MIN', options, async (t) => {
  const disk = await mountSmallDisk(t, 64)
  const winnow = await startWinnow(t, {
    engines: 0,
    env: { DATA_DIR: disk.folder, DISK_FREE_MB_MIN: '63' },
  })
  await writeFile(join(disk.folder, 'else'), Buffer.alloc(4e6))
  const file = {
    file_name: 'x.wav',
    content_type: 'audio/wav',
    file_size: 9,
    purpose: 'audio.separate.input',
  }
  const created = await call(winnow, '/v1/files', file) // the database can still write
  assert.equal(created.status, 201)
  const { upload_url: url } = created.body as unknown as { upload_url: string }
  const upload = await fetch(url, { method: 'PUT', body: 'all nine.' })
  assert.equal(upload.status, 502)
  assert.equal(upload.headers.get('retry-after'), '60')
  const ready = await call(winnow, '/readyz')
  assert.equal(ready.status, 200)
  assert.match(ready.body.problems?.join() ?? '', /DATA_DIR has less free than DISK_FREE_MB_MIN/)
})

test('requests are accepted while a broker stores nothing, and complete', options, async (t) => {
  const disk = await mountSmallDisk(t, 128)
  const winnow = await startWinnow(t, { natsFolder: disk.folder })
  await disk.fill()
  const submitted = await submitFile(winnow, examplePath(`${EXAMPLE}.wav`), { prompt: 'siren' })
  await whenTrue(async () => (await call(winnow, '/readyz')).status === 503)
  const { body } = await call(winnow, '/readyz')
  assert.match(body.problems?.join() ?? '', /The broker stores no messages .*restart nats-server/)
  await disk.free()
  const gone = once(winnow.nats.process, 'exit')
  winnow.nats.process.kill('SIGTERM')
  await gone
  await winnow.startNats()
  await assertSeparated(winnow, submitted)
  assert.equal((await call(winnow, '/readyz')).status, 200)
})

test('a gateway that starts on a full disk ends with one line saying so', options, async (t) => {
  const disk = await mountSmallDisk(t, 4)
  await disk.fill()
  const starting = startWinnow(t, { engines: 0, env: { DATA_DIR: disk.folder } })
  await assert.rejects(starting, ({ message }: Error) => {
    const lines = message.split('\n').filter((line) => line.startsWith('{'))
    assert.equal(lines.length, 1, message)
    assert.match(lines[0]!, /"level":60,.*no space left|full/)
    assert.doesNotMatch(message, /\n\s+at /)
    return true
  })
})

/** Logs a line, waits for a message, and logs another line. */
const LOGGER = `
  const { createLogger } = await import('./shared/telemetry/log.ts')
  const log = createLogger('test', 'info')
  log.info({ text: 'x'.repeat(10_000) }, 'full')
  process.send('logged')
  process.once('message', () => {
    log.info('free')
    process.disconnect()
  })`

test(
  'logging to a full disk neither ends nor hangs a process, and resumes once there is space',
  options,
  async (t) => {
    const disk = await mountSmallDisk(t, 1)
    const path = join(disk.folder, 'log')
    const file = await open(path, 'a')
    t.after(() => file.close())
    const startLogger = async () => {
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', LOGGER],
        { stdio: ['ignore', file.fd, 'inherit', 'ipc'], timeout: 60_000 },
      )
      const ended = once(child, 'exit')
      await once(child, 'message') // its line cannot be written yet
      return { child, ended }
    }
    await disk.fill()
    const first = await startLogger()
    await disk.free()
    first.child.send('go on')
    assert.deepEqual(await first.ended, [0, null])
    const messages = (await readFile(path, 'utf8')).match(/"msg":"\w+"/g)
    assert.deepEqual(messages, ['"msg":"full"', '"msg":"free"'])
    await disk.fill()
    const second = await startLogger() // its disk stays full until it exits
    second.child.send('go on')
    assert.deepEqual(await second.ended, [0, null])
  },
)
