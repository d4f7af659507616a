/** `npm run winnow -- sounds`, on a real gateway. */

import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HeardSound } from '../../../../shared/heard-sounds.ts'
import { soundsTable } from '../../../../scripts/cli/sounds/table.ts'
import { sounds } from '../../../../scripts/cli/sounds/command.ts'
import { runCommand } from '../../../support/processes/run-command.ts'
import { FILE_BYTES, startGateway } from '../../../support/gateway/start-gateway.ts'

const SOUNDS: HeardSound[] = [
  { name: 'dog', spans: [{ start: 0.5, end: 2.5 }], share: 0.2, match: 0.97 },
  { name: 'rain', spans: [], share: 0.88, match: 0.8 },
]

/** Starts a gateway whose engine lists the same sounds for every file except those that fail. */
async function start(t: TestContext, fails = (_name: string) => false) {
  let address = ''
  const gateway = await startGateway(t, { config: { publicUrl: () => address } })
  address = await gateway.listen()
  const folder = join(gateway.folder, 'media')
  await mkdir(folder, { recursive: true })
  for (const name of ['a.wav', 'b.wav']) await writeFile(join(folder, name), FILE_BYTES)
  const env = { WINNOW_URL: address, WINNOW_API_KEY: gateway.key }
  /** Runs the command, and answers its requests until it ends. */
  const run = async (...words: string[]) => {
    let isEnded = false
    const running = runCommand(sounds, words, { env }).finally(() => (isEnded = true))
    while (!isEnded) {
      await gateway.publish()
      const queued = await gateway.store
        .selectFrom('requests')
        .selectAll()
        .where('status', '=', 'IN_QUEUE')
        .execute()
      for (const { request_id: id, file_name: name } of queued) {
        if (fails(name)) await gateway.event('failed', id)
        else await gateway.event('completed', id, { sounds: SOUNDS, outputs: undefined as never })
      }
      await sleep(5)
    }
    return running
  }
  return { gateway, env, folder, run }
}

test('the sounds of each file are listed as a table', async (t) => {
  const { folder, run } = await start(t)
  const { code, text, errors } = await run(folder)
  assert.deepEqual([code, errors], [0, ''])
  assert.equal(
    text,
    ['a.wav', 'b.wav']
      .map(
        (name) =>
          `${join(folder, name)}, 0:12.5:\n` +
          'sound  share  match  where\n' +
          'dog     20 %   97 %  0:00.5 to 0:02.5\n' +
          'rain    88 %   80 %  -\n',
      )
      .join(''),
  )
})

test('programs get a line of JSON for each file; failures are named, and the rest is listed', async (t) => {
  const { folder, run } = await start(t, (name) => name === 'a.wav')
  const [a, b] = [join(folder, 'a.wav'), join(folder, 'b.wav')]
  const { code, text } = await run(a, b, '--json')
  const [failed, listed] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(code, 1)
  assert.deepEqual([failed.source, failed.state], [a, 'failed'])
  assert.match(failed.error, /^MODEL_FAILED/)
  assert.deepEqual([listed.source, listed.state, listed.data.sounds], [b, 'listed', SOUNDS])
  const plain = await run(a)
  assert.deepEqual([plain.code, plain.text], [1, ''])
  assert.match(plain.errors, /a\.wav: MODEL_FAILED/)
})

test('a command line without media is refused without calling the service', async (t) => {
  const { gateway, folder, run } = await start(t)
  for (const [words, message] of [
    [[join(folder, 'c.wav')], /there is no file/],
    [[], /It takes: FILE…/],
    [[join(folder, 'a.wav'), '--track', '0'], /--track takes a whole number from 1/],
    [[gateway.folder], /there is no audio or video in/],
  ] as const) {
    const { code, errors } = await run(...words)
    assert.equal(code, 2, errors)
    assert.match(errors, message)
  }
  assert.deepEqual(await gateway.store.selectFrom('requests').selectAll().execute(), [])
})

test('a request that nobody waits for any more is canceled', async (t) => {
  const { gateway, env, folder } = await start(t)
  const leaving = new AbortController()
  const { signal } = leaving
  const running = runCommand(sounds, [join(folder, 'a.wav')], { env, signal })
  while (gateway.feed.watches === 0) await sleep(5)
  leaving.abort()
  assert.equal((await running).code, 130)
  const row = await gateway.store.selectFrom('requests').selectAll().executeTakeFirstOrThrow()
  assert.equal(row.error_code, 'CANCELED')
})

test('a table shows the first spans of a sound, and says when there is nothing', () => {
  const spans = Array.from({ length: 6 }, (_, i) => ({ start: 3_600 + i, end: 3_600.5 + i }))
  const data = { sounds: [{ name: 'dog', spans, share: 1, match: 1 }], duration: 3_700 }
  const lines = soundsTable('a.wav', data).split('\n')
  assert.match(lines[0]!, /^a\.wav, 1:01:40\.0:$/)
  assert.match(lines[2]!, /^dog +100 % +100 % {2}1:00:00\.0 to 1:00:00\.5, .*, and 2 more$/)
  assert.match(soundsTable('a.wav', { sounds: [], duration: 1 }), /no sound that is known/)
})
