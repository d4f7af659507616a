/** The command-line client against a small server that speaks the spec. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { separate } from '../../../scripts/separate/command.ts'
import {
  DONE,
  event,
  KEY,
  LOGS,
  makeFolder,
  run,
  startService,
  status,
  type Json,
} from '../../support/separation-service.ts'

const COMMAND = join(import.meta.dirname, '../../../scripts/separate.ts')

test('a file is uploaded, separated and both parts lie beside it', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  service.streams = [
    [status('IN_QUEUE', { queue_position: 2 }), event('timeout', { request_id: 'req_1' })],
    [status('IN_PROGRESS', { progress: 0.25 }), status('IN_PROGRESS', { progress: 0.5 }), 'break'],
    ['break'],
    DONE,
  ]
  const { code, out, errors } = await run(service, join(folder, 'song.mp3'), 'a dog')
  assert.equal(code, 0, errors)
  assert.deepEqual(service.file, {
    file_name: 'song.mp3',
    content_type: 'audio/mpeg',
    file_size: 300_000,
    purpose: 'audio.separate.input',
  })
  assert.equal(service.uploaded?.length, 300_000)
  assert.deepEqual(service.submission, { input: { prompt: 'a dog', file_id: 'file_1' } })
  const target = join(folder, 'song-a-dog.wav')
  assert.equal(await readFile(target, 'utf8'), 'bytes of /signed/target')
  const residual = join(folder, 'song-residual.wav')
  assert.equal(await readFile(residual, 'utf8'), 'bytes of /signed/residual')
  assert.match(out, /song-a-dog\.wav\n.*song-residual\.wav\n6\.0 s of audio in \d+\.\d s: .* real/)
  assert.match(errors, /uploading.*waiting, number 2\nseparating 20%\nseparating 50%\n/s)
  assert.equal(service.calls.filter((call) => call.includes('stream')).length, 4)
})

test('every option reaches the API', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  const { code, errors } = await run(
    service,
    'https://example.com/a/my%20talk.mp4?x=1',
    'speech',
    '--out',
    join(folder, 'new'),
    '--acceleration',
    'fast',
    '--format',
    'mp3',
    '--candidates',
    '3',
    '--predict-spans',
    '--span',
    '1.5-4',
    '--span',
    '6-7',
    '--no-span',
    '4-5.25',
    '--max-chunk',
    '30',
    '--overlap',
    '2.5',
    '--track',
    '2',
    '--metadata',
    '{"a":1}',
    '--webhook',
    'https://example.com/hook',
    '--webhook-secret',
    'sixteen-characters',
    '--quiet',
  )
  assert.equal(code, 0, errors)
  assert.deepEqual(service.submission, {
    input: {
      prompt: 'speech',
      audio_url: 'https://example.com/a/my%20talk.mp4?x=1',
      acceleration: 'fast',
      output_format: 'mp3',
      reranking_candidates: 3,
      predict_spans: true,
      max_chunk_duration: 30,
      chunk_overlap: 2.5,
      audio_track: 2,
      spans: [
        { start: 1.5, end: 4, include: true },
        { start: 6, end: 7, include: true },
        { start: 4, end: 5.25, include: false },
      ],
    },
    metadata: { a: 1 },
    webhookUrl: 'https://example.com/hook',
    webhookSecret: 'sixteen-characters',
  })
  const files = await readdir(join(folder, 'new'))
  assert.deepEqual(files.sort(), ['my talk-residual.wav', 'my talk-speech.wav'])
  assert.equal(errors, 'webhook signing secret, shown only now: whsec_made\n')
})

test('--json prints the result with the paths; --logs adds the log; videos come too', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  service.hasVideo = true
  const words = [join(folder, 'song.mp3'), 'a dog', '--json', '--logs']
  const printed = JSON.parse((await run(service, ...words)).out) as Json
  const at = (name: string) => join(folder, name)
  assert.deepEqual(printed.files, {
    target: at('song-a-dog.wav'),
    target_video: at('song-a-dog.mp4'),
    residual: at('song-residual.wav'),
    residual_video: at('song-residual.mp4'),
  })
  assert.deepEqual(printed.logs, LOGS)
  assert.equal(printed.status, 'COMPLETED')
  assert.ok(Number(printed.elapsed_seconds) > 0)
})

test('what the service refuses is said in its own words', async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  const error = { code: 'INVALID_PARAMETER', message: 'At most 8.', param: 'input.x' }
  service.refuse = { 'POST /v1/queue/audio/separate': [400, JSON.stringify({ error })] }
  const refused = await run(service, join(folder, 'song.mp3'), 'a dog', '--quiet')
  const said = 'INVALID_PARAMETER: At most 8. (input.x)\n'
  assert.deepEqual(refused, { code: 1, out: '', errors: said })
  service.refuse = { 'POST /v1/queue/audio/separate': [502, '<h1>Bad</h1>'] }
  const proxied = await run(service, join(folder, 'song.mp3'), 'a dog', '--quiet')
  assert.deepEqual(proxied, { code: 1, out: '', errors: 'HTTP_502: Bad Gateway\n' })
})

test('a request that fails says why, with its log', async (t) => {
  const service = await startService(t)
  const error = { code: 'NO_AUDIO_STREAM', message: 'The media has no audio stream.' }
  service.streams = [[status('FAILED', { error, logs: LOGS })]]
  const words = ['https://example.com/a.mp4', 'x', '--logs', '--quiet']
  const { code, errors } = await run(service, ...words)
  assert.equal(code, 1)
  assert.equal(
    errors,
    '2026-01-01T00:00:00Z two chunks\n' + 'NO_AUDIO_STREAM: The media has no audio stream.\n',
  )
})

test('an error event ends the wait', async (t) => {
  const service = await startService(t)
  service.streams = [[event('error', { error: { code: 'NOT_FOUND', message: 'Gone.' } })]]
  const { code, errors } = await run(service, 'https://example.com/a.mp4', 'x', '--quiet')
  assert.deepEqual([code, errors], [1, 'NOT_FOUND: Gone.\n'])
})

test('a service that does not run is named, with what to do', async (t) => {
  const folder = await makeFolder(t)
  const { code, errors } = await run({ base: 'http://127.0.0.1:1' }, join(folder, 'song.mp3'), 'x')
  assert.equal(code, 1)
  assert.match(errors, /http:\/\/127\.0\.0\.1:1 does not answer\. .*npm start/)
})

test('a wrong command line exits with 2 and says what is right', async (t) => {
  const service = await startService(t)
  const wrong: readonly [string[], RegExp][] = [
    [[], /--help/],
    [['a.wav'], /--help/],
    [['a.wav', 'b.flac', 'x'], /there is no file b\.flac/],
    [['a.wav', 'x', 'X!'], /both write/],
    [['*.json', 'https://x.test/a.wav', 'x'], /--out/],
    [['a.wav', 'x', 'y', '--jobs', '0'], /--jobs/],
    [['a.wav', 'x', '--fast'], /--fast/],
    [['a.wav', 'x', '--candidates', 'two'], /number/],
    [['a.wav', 'x', '--overlap', ''], /number/],
    [['a.wav', 'x', '--span', '3'], /START-END/],
    [['a.wav', 'x', '--no-span', 'a-b'], /START-END/],
    [['a.wav', 'x', '--metadata', '{'], /JSON/],
    [['a.wav', 'x', '--url', 'ftp://x'], /http/],
  ]
  for (const [words, message] of wrong) {
    const { code, errors } = await run(service, ...words)
    assert.equal(code, 2, words.join(' '))
    assert.match(errors, message)
  }
  assert.equal((await run(service, 'missing.wav', 'x')).code, 1)
  assert.deepEqual(service.calls, [])
  assert.match((await run(service, '--help')).out, /^Usage: npm run separate/)
})

test("the key of this machine's service is found, and not given to another", async (t) => {
  const service = await startService(t)
  const folder = await makeFolder(t)
  await mkdir(join(folder, 'data'))
  await writeFile(join(folder, 'data', 'api-key'), `${KEY}\n`)
  const call = async (base: string) => {
    const stderr = new PassThrough()
    const words = [join(folder, 'song.mp3'), 'x', '--quiet', '--url', base]
    const world = { env: { DATA_DIR: join(folder, 'data') }, stdout: new PassThrough(), stderr }
    const code = await separate(words, { ...world, signal: new AbortController().signal })
    return { code, errors: await text(stderr.end()) }
  }
  assert.deepEqual(await call(service.base), { code: 0, errors: '' })
  let authorization: string | undefined = 'none asked'
  const other = createServer((request, reply) => {
    authorization = request.headers.authorization
    reply.writeHead(401).end()
  }).listen(0, '0.0.0.0')
  await once(other, 'listening')
  t.after(() => other.close())
  await call(`http://0.0.0.0:${(other.address() as AddressInfo).port}`)
  assert.equal(authorization, undefined)
})

test('Ctrl-C cancels the request and exits with 130', async (t) => {
  const service = await startService(t)
  service.streams = [[status('IN_PROGRESS'), 'stay']]
  const env = { ...process.env, WINNOW_URL: service.base, WINNOW_API_KEY: KEY }
  const words = ['--import', 'tsx', COMMAND, 'https://example.com/a.mp4', 'x']
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stderr.on('data', (data: Buffer) => {
    if (data.includes('separating')) child.kill('SIGINT')
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 130)
  assert.equal(service.calls.at(-1), 'PUT /v1/queue/requests/req_1/cancel')
})
