/** The command-line client with a small server that implements the API. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { separate } from '../../../../scripts/cli/separate/command.ts'
import {
  DONE,
  event,
  KEY,
  LOGS,
  run,
  runWith,
  start,
  status,
  type Json,
} from '../../../support/clients/separation-service.ts'

const COMMAND = fileURLToPath(new URL('../../../../scripts/cli/main.ts', import.meta.url))

test('a file is uploaded and separated, and both parts are stored next to it', async (t) => {
  const { service, folder, song } = await start(t)
  service.streams = [
    [status('IN_QUEUE', { queue_position: 2 }), event('timeout', { request_id: 'req_1' })],
    [status('IN_PROGRESS', { progress: 0.25 }), status('IN_PROGRESS', { progress: 0.5 }), 'break'],
    ['break'],
    DONE,
  ]
  const { code, out, errors } = await run(service, song, 'a dog')
  assert.equal(code, 0, errors)
  assert.deepEqual(service.file, {
    file_name: 'song.mp3',
    content_type: 'audio/mpeg',
    file_size: 300_000,
  })
  assert.equal(service.uploaded?.length, 300_000)
  assert.deepEqual(service.submission, { input: { prompt: 'a dog' } })
  assert.deepEqual(service.calls[0], 'POST /v1/audio/separate', 'one call brings both')
  const target = join(folder, 'song.a-dog.wav')
  assert.equal(await readFile(target, 'utf8'), 'bytes of /signed/target')
  const residual = join(folder, 'song.rest.without-a-dog.wav')
  assert.equal(await readFile(residual, 'utf8'), 'bytes of /signed/residual')
  const lines = out.trim().split('\n')
  assert.deepEqual(lines.slice(0, 2), [target, residual])
  assert.match(lines[2]!, /song\.mp3: 6\.0 s of audio in \d+\.\d s: .* real time$/)
  assert.deepEqual((await readdir(folder)).sort(), [
    'song.a-dog.wav',
    'song.mp3',
    'song.rest.without-a-dog.wav',
  ])
  assert.equal(errors, 'uploading\nwaiting for a free engine, 1 ahead\nseparating\ndownloading\n')
  assert.equal(service.calls.filter((call) => call.includes('stream')).length, 4)
})

test('a file of more than 32 MiB is uploaded separately', async (t) => {
  const { service, song } = await start(t)
  await truncate(song, 32 * 2 ** 20 + 1)
  const { code, errors } = await run(service, song, 'a dog')
  assert.equal(code, 0, errors)
  assert.equal(service.uploaded?.length, 32 * 2 ** 20 + 1)
  assert.deepEqual(service.submission, { input: { prompt: 'a dog', file_id: 'file_1' } })
  const calls = ['POST /v1/files', 'PUT /signed/upload', 'POST /v1/queue/audio/separate']
  assert.deepEqual(service.calls.slice(0, 3), calls)
})

test('every option reaches the API', async (t) => {
  const address = 'https://example.com/a/my%20talk.mp4?x=1'
  const { service, folder } = await start(t)
  const options =
    '--acceleration fast --format mp3 --candidates 3 --predict-spans --span 1.5-4 --span 6-7 ' +
    '--no-span 4-5.25 --max-chunk 30 --overlap 2.5 --track 2 --separator mini --metadata {"a":1} ' +
    '--webhook https://example.com/hook --webhook-secret sixteen-characters --quiet'
  const words = [address, 'speech', '--out', join(folder, 'new'), ...options.split(' ')]
  const { code, errors } = await run(service, ...words)
  assert.equal(code, 0, errors)
  assert.deepEqual(service.submission, {
    input: {
      prompt: 'speech',
      audio_url: address,
      acceleration: 'fast',
      output_format: 'mp3',
      reranking_candidates: 3,
      predict_spans: true,
      max_chunk_duration: 30,
      chunk_overlap: 2.5,
      audio_track: 2,
      separator: 'mini',
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
  const names = files.sort().map((name) => name.replace(/-[0-9a-f]{8}\./, '-<digits>.'))
  const [rest, target] = ['my talk-<digits>.rest.without-speech.mp3', 'my talk-<digits>.speech.mp3']
  assert.deepEqual(names, [rest, target])
  assert.match(errors, /^https:\S+: webhook signing secret, shown only now: whsec_made\n$/)
})

test('--json prints the result with the paths; --logs adds the log; videos come too', async (t) => {
  const { service, folder, song } = await start(t)
  service.hasVideo = true
  const words = [song, 'a dog', '--json', '--logs']
  const printed = JSON.parse((await run(service, ...words)).out) as Json
  const at = (name: string) => join(folder, name)
  assert.deepEqual(printed.files, {
    target: at('song.a-dog.wav'),
    target_video: at('song.a-dog.mp4'),
    residual: at('song.rest.without-a-dog.wav'),
    residual_video: at('song.rest.without-a-dog.mp4'),
  })
  assert.deepEqual(printed.logs, LOGS)
  assert.equal(printed.status, 'COMPLETED')
  assert.ok(Number(printed.elapsed_seconds) > 0)
})

test("a refusal is shown in the service's own words", async (t) => {
  const { service, song } = await start(t)
  const error = { code: 'INVALID_PARAMETER', message: 'At most 8.', param: 'input.x' }
  service.refuse = { 'POST /v1/audio/separate': [400, JSON.stringify({ error })] }
  const refused = await run(service, song, 'a dog', '--quiet')
  const message = `${song}: INVALID_PARAMETER: At most 8. (input.x)\n`
  assert.deepEqual(refused, { code: 1, out: '', errors: message })
  service.refuse = { 'POST /v1/audio/separate': [502, '<h1>Bad</h1>'] }
  const proxied = await run(service, song, 'a dog', '--quiet')
  assert.deepEqual(proxied, { code: 1, out: '', errors: `${song}: HTTP_502: Bad Gateway\n` })
})

test('a request that fails says why, with its log', async (t) => {
  const { service } = await start(t)
  const error = { code: 'NO_AUDIO_STREAM', message: 'The media has no audio stream.' }
  service.streams = [[status('FAILED', { error, logs: LOGS })]]
  const words = ['https://example.com/a.mp4', 'x', '--logs', '--quiet']
  const { code, errors } = await run(service, ...words)
  assert.equal(code, 1)
  assert.equal(
    errors,
    'https://example.com/a.mp4: NO_AUDIO_STREAM: The media has no audio stream.\n' +
      'https://example.com/a.mp4: 2026-01-01T00:00:00Z two chunks\n',
  )
})

test('a service that is not running is named, with advice', async (t) => {
  const { song } = await start(t)
  const { code, errors } = await run({ base: 'http://127.0.0.1:1' }, song, 'x')
  assert.equal(code, 1)
  assert.match(errors, /http:\/\/127\.0\.0\.1:1 does not answer\. .*npm start/)
})

test('a wrong command line exits with 2 and says what is right, before any call', async (t) => {
  const { service, folder, song } = await start(t)
  await mkdir(join(folder, 'empty'))
  const wrong: readonly [string[], string | RegExp][] = [
    [[], /--help/],
    [[song], /--help/],
    [['missing.wav', 'x'], 'there is no file missing.wav'],
    [
      ['a dog', song],
      `there is no file a dog; if it is a prompt, files come first: npm run separate -- ${song} 'a dog'`,
    ],
    [['a\uFFFD.wav', 'x'], 'a\uFFFD.wav: its name is not UTF-8: rename the file'],
    [[song, 'b.flac', 'x'], 'there is no file b.flac'],
    [[join(folder, 'empty'), 'x'], /^there is no audio or video in .*empty$/],
    [[song, ' '], 'a prompt has 1 to 500 characters, not 0'],
    [[song, 'x'.repeat(501)], 'a prompt has 1 to 500 characters, not 501'],
    [[song, ...'abcdefghi'], 'give at most 8 prompts, not 9'],
    [[song, 'x', '--jobs', '0'], '--jobs takes a whole number from 1 to 64, not "0"'],
    [[song, 'x', '--everything'], 'there is no option --everything.'],
    [
      [song, 'x', '--aceleration', 'fast'],
      'there is no option --aceleration. Did you mean "--acceleration"?',
    ],
    [
      [song, 'x', '--acceleration', 'qualty'],
      '--acceleration takes fast, balanced or quality, not "qualty". Did you mean "quality"?',
    ],
    [[song, 'x', '--format', 'ogg'], '--format takes wav, mp3 or flac, not "ogg".'],
    [[song, 'x', '--candidates', 'two'], /number/],
    [[song, 'x', '--candidates', '9'], '--candidates takes a whole number from 1 to 8, not 9'],
    [[song, 'x', '--overlap', ''], /number/],
    [[song, 'x', '--overlap', '31'], '--overlap takes a number from 0 to 30, not 31'],
    [[song, 'x', '--max-chunk', '301'], '--max-chunk takes a number from 0 to 300, not 301'],
    [[song, 'x', '--separator', 'No Name'], /^--separator takes auto or the name of a model/],
    [[song, 'x', '--span', '3'], /START-END/],
    [[song, 'x', '--span', '4-3'], 'a span ends after its start, not "4-3"'],
    [[song, 'x', '--no-span', 'a-b'], /START-END/],
    [[song, 'x', '--metadata', '{'], /JSON/],
    [[song, 'x', '--metadata', '[]'], /JSON object/],
    [
      [song, 'x', '--metadata', `{"a":"${'x'.repeat(16_384)}"}`],
      '--metadata takes up to 16384 bytes and 32 levels of JSON',
    ],
    [[song, 'x', '--metadata', `{"a":${'['.repeat(32)}${']'.repeat(32)}}`], /^--metadata .*levels/],
    [[song, 'x', '--webhook', 'x.test'], /https/],
    [[song, 'x', '--webhook', 'https://a b'], /https/],
    [[song, 'x', '--webhook-secret', 'short'], '--webhook-secret takes 16 to 256 characters'],
    [[song, 'x', '--url', 'ftp://x'], /http/],
  ]
  for (const [words, message] of wrong) {
    const { code, errors } = await run(service, ...words)
    assert.equal(code, 2, words.join(' '))
    const [line = ''] = errors.split('\n')
    if (typeof message === 'string') assert.equal(line, message)
    else assert.match(line, message)
    assert.match(errors, /\n\nUsage: npm run separate -- <.*\n$/)
  }
  assert.deepEqual(service.calls, [])
  assert.match((await run(service, '--help')).out, /^Usage: npm run separate/)
})

test('a model that the service lacks, or that has none of the stems, is refused first', async (t) => {
  const { service, song } = await start(t)
  const wrong = [
    [['vocals', '--separator', 'htdemuc'], 'There is no model "htdemuc"'],
    [
      ['a dog', '--separator', 'htdemucs'],
      '"a dog" is not one of the stems that htdemucs can give',
    ],
  ] as const
  for (const [words, message] of wrong) {
    const there = 'the models here are htdemucs (drums, vocals); mini (any prompt).'
    const { code, errors } = await run(service, song, ...words)
    assert.deepEqual([code, errors.split('\n')[0]], [2, `${message}; ${there}`])
  }
  assert.deepEqual(service.calls, ['GET /v1/models', 'GET /v1/models'])
  assert.equal((await run(service, song, 'vocals', '--separator', 'htdemucs')).code, 0)
  assert.equal(service.submission?.input?.separator, 'htdemucs')
})

test('with a key that may not list models, the service checks the separator', async (t) => {
  const { service, song } = await start(t)
  service.refuse['GET /v1/models'] = [403, '{"error":{"code":"FORBIDDEN","message":"No."}}']
  assert.equal((await run(service, song, 'vocals', '--separator', 'htdemuc')).code, 0)
  assert.equal(service.submission?.input?.separator, 'htdemuc')
})

const UNKNOWN = {
  prompt: 'a dog',
  state: 'unknown',
  holds: 'everything but speech',
  message: 'The model does not know "a dog".',
}

test('a sound that was not surely found is reported on stderr, and with --strict by the exit code', async (t) => {
  const { service, folder, song } = await start(t)
  service.findings = [UNKNOWN]
  const first = await run(service, song, 'a dog', '--strict', '--quiet')
  assert.deepEqual(first, { code: 3, out: '', errors: `${song}: ${UNKNOWN.message}\n` })
  const names = (await readdir(folder)).sort()
  const held = 'song.everything-but-speech-not-a-dog.wav'
  assert.deepEqual(names, [held, 'song.mp3', 'song.rest.without-a-dog.wav'])
  const again = await run(service, song, 'a dog')
  assert.deepEqual(
    [again.code, again.out],
    [0, `${song}: already separated (--force separates it again)\n`],
  )

  service.findings = [{ ...UNKNOWN, state: 'found', holds: undefined }]
  service.streams = [DONE, DONE]
  const found = await run(service, song, 'a cat', '--strict', '--quiet')
  assert.deepEqual(found, { code: 0, out: '', errors: '' })
  service.findings = [UNKNOWN]
  assert.equal((await run(service, song, 'a cow', '--quiet')).code, 0, 'without --strict')
  service.findings = [{ state: 'absent', prompt: 'a hen', message: 'No hen was heard.' }]
  service.streams = [DONE]
  const absent = await run(service, song, 'a hen')
  assert.match(absent.out, /song\.a-hen\.wav\n/)
  assert.doesNotMatch(absent.out, /rest/, 'nothing was taken out of it')
})

test('the output suggests a command for users who know that the sound is there', async (t) => {
  const { service, song } = await start(t)
  const again = (errors: string) => errors.split('\n').filter((line) => line.includes('--span'))
  const softened = { state: 'unsure', softened_db: 28, message: 'May be absent.' }
  service.findings = [{ ...softened, prompt: 'a dog' }]
  const words = ['--format', 'mp3', '--key', KEY, '--url', service.base, '--overlap', '2']
  const kept = await run(service, song, 'a dog', ...words)
  const options = `--overlap 2 --format mp3 --url ${service.base} --key KEY --span 0-6 --force`
  assert.deepEqual(again(kept.errors), [
    `${song}: If "a dog" is there, this keeps it 28 dB louder: ` +
      `npm run separate -- ${song} 'a dog' ${options}`,
  ])

  service.findings = [{ state: 'unsure', prompt: 'hum', message: 'May be absent.' }]
  service.streams = [DONE, DONE, DONE]
  const out = await run(service, song, 'hum', '--task', 'remove')
  assert.deepEqual(again(out.errors), [
    `${song}: If "hum" is there, this takes out more (best with its own times as --span): ` +
      `npm run separate -- ${song} hum --task remove --span 0-6 --force`,
  ])
  const suggestion = ['hum', '--task', 'remove', '--span', '0-6', '--force']
  assert.deepEqual(again((await run(service, song, ...suggestion)).errors), [], 'it was said')
  service.findings = [{ ...service.findings[0], separator: 'htdemucs' }]
  const stems = await run(service, song, 'hum', '--task', 'remove', '--force')
  assert.deepEqual(again(stems.errors), [], 'stems do not heed spans')
})

test('the outputs of a file with the longest possible name have names that fit, and are recognized', async (t) => {
  const { service, folder } = await start(t)
  const song = join(folder, `${'ü'.repeat(124)}.1.mp3`) // 254 bytes
  await writeFile(song, 'sound')
  service.findings = [UNKNOWN]
  const first = await run(service, song, 'a dog')
  assert.equal(first.code, 0, first.errors)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.wav')).sort()
  assert.match(names[0]!, /^ü{108}\.1\.everything-but-speech-not-a-dog\.wav$/)
  assert.match(names[1]!, /^ü{115}\.1\.rest\.without-a-dog\.wav$/)
  const again = await run(service, song, 'a dog')
  assert.deepEqual(
    [again.code, again.out],
    [0, `${song}: already separated (--force separates it again)\n`],
  )
})

test('two runs on one file overwrite nothing, except with --force', async (t) => {
  const { service, folder, song } = await start(t)
  service.streams = [DONE, DONE, DONE]
  for (const prompt of ['piano', 'drums']) assert.equal((await run(service, song, prompt)).code, 0)
  const whole = ['drums', 'mp3', 'piano', 'rest.without-drums', 'rest.without-piano']
  const names = (await readdir(folder)).sort()
  assert.deepEqual(
    names,
    whole.map((name) => (name === 'mp3' ? 'song.mp3' : `song.${name}.wav`)),
  )

  await writeFile(join(folder, 'song.piano.wav'), 'mine')
  await rm(join(folder, 'song.rest.without-piano.wav'))
  const { calls } = service
  calls.length = 0
  const refused = await run(service, song, 'piano')
  assert.equal(refused.code, 1)
  assert.match(refused.errors, /song\.piano\.wav already exists: --force overwrites, --out FOLDER/)
  assert.deepEqual(calls, [], 'before anything is uploaded')
  assert.equal(await readFile(join(folder, 'song.piano.wav'), 'utf8'), 'mine')

  assert.equal((await run(service, song, 'piano', '--force')).code, 0)
  assert.notEqual(await readFile(join(folder, 'song.piano.wav'), 'utf8'), 'mine')
})

test('a failed download leaves nothing half written', async (t) => {
  const { service, folder, song } = await start(t)
  service.refuse = { 'GET /signed/residual': [503, ''] }
  assert.equal((await run(service, song, 'piano')).code, 1)
  assert.deepEqual(await readdir(folder), ['song.mp3'])
})

test('- reads standard input and writes the sound to standard output', async (t) => {
  const { service } = await start(t)
  service.findings = [{ state: 'unsure', message: 'Perhaps a dog.' }]
  const { code, out, errors } = await runWith(service, 'some media', ['-', 'a dog', '--strict'])
  assert.deepEqual([code, out], [3, 'bytes of /signed/target'], errors)
  assert.equal(service.uploaded?.toString(), 'some media')
  assert.match(errors, /standard input: Perhaps a dog\./)
})

test('- says which options it excludes', async (t) => {
  const { service, folder, song } = await start(t)
  const refusals: [string[], RegExp][] = [
    [['-', 'a dog', 'a cat'], /one prompt with -/],
    [['-', song, 'a dog'], /give - alone, or files/],
    [['-', 'a dog', '--out', folder], /leave out --out/],
    [['-', 'a dog', '--json'], /leave out --json/],
    [['-', 'a dog'], /standard input is empty/],
  ]
  for (const [words, message] of refusals) {
    const { code, out, errors } = await runWith(service, '', words)
    assert.deepEqual([code, out], [2, ''], words.join(' '))
    assert.match(errors, message)
  }
  service.streams = [
    [status('FAILED', { error: { code: 'NO_AUDIO_STREAM', message: 'No sound.' } })],
  ]
  const failed = await runWith(service, 'some media', ['-', 'a dog'])
  assert.deepEqual([failed.code, failed.out], [1, ''])
  assert.match(failed.errors, /standard input: NO_AUDIO_STREAM: No sound\./)
})

test("the key of this machine's service is found, and not sent to another", async (t) => {
  const { service, folder, song } = await start(t)
  await mkdir(join(folder, 'data'))
  await writeFile(join(folder, 'data', 'api-key'), `${KEY}\n`)
  const call = async (base: string) => {
    const stderr = new PassThrough()
    const words = [song, 'x', '--quiet', '--force', '--url', base]
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const world = { env: { DATA_DIR: join(folder, 'data') }, stdin, stdout, stderr }
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

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} cancels the request and exits with 130, even if it comes twice`, async (t) => {
    const { service } = await start(t)
    service.streams = [[status('IN_PROGRESS'), 'stay']]
    const env = { ...process.env, WINNOW_URL: service.base, WINNOW_API_KEY: KEY }
    const words = ['scripts/run.mjs', COMMAND, 'separate', 'https://example.com/a.mp4', 'x']
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stderr.on('data', (data: Buffer) => {
      if (!data.includes('separating')) return
      for (const twice of [signal, signal]) child.kill(twice) // terminal and npm both send it
    })
    const [code] = await once(child, 'close')
    assert.equal(code, 130)
    assert.equal(service.calls.at(-1), 'PUT /v1/queue/requests/req_1/cancel')
  })
}

test('once nobody reads the output, the other requests are canceled', async (t) => {
  const { service, folder } = await start(t, 'a.mp3')
  service.streams = [['stay'], DONE] // the second prints its result while the first is separated
  const { code, errors } = await runUnread(['separate', folder, 'x', '--json', '--jobs', '2'], {
    WINNOW_URL: service.base,
    WINNOW_API_KEY: KEY,
  })
  assert.equal(code, 130, errors)
  assert.match(errors, /canceled\n$/)
  assert.equal(service.calls.at(-1), 'PUT /v1/queue/requests/req_1/cancel')
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('.winnow-')),
    [],
  )
})

test('a command that cannot be canceled ends quietly once nobody reads its output', async () => {
  assert.deepEqual(await runUnread(['open', '--help']), { code: 130, errors: '' })
})

/** Runs the command with a closed pipe as its standard output. */
async function runUnread(words: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['scripts/run.mjs', COMMAND, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, errors }
}
