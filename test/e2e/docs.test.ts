/**
 * Runs every block of code in the documents as written, in a folder like a checkout, against a running
 * service. Replaces only addresses: those of the service, and of example.com. Compares the output that
 * a page shows with the real output.
 */

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before, describe, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { hindranceOf } from '../../scripts/cli/install-host/command.ts'
import { documentedBlocks, type CodeBlock } from '../support/clients/code-blocks.ts'
import { examplePath } from '../support/media/examples.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { makeMedia } from '../support/media/make-media.ts'
import { pythonPackages } from '../support/packages/python-packages.ts'
import { serve } from '../support/http/serve.ts'
import { noise } from '../support/media/signals.ts'
import {
  API_KEY,
  downloadResult,
  separateFile,
  startWinnow,
  type Winnow,
} from '../support/processes/start-winnow.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RUN = ['sh', 'ts', 'python']
/** Diagrams, output of programs, settings files, and the rule that bucket.test.ts reads. */
const NO_CODE = ['mermaid', 'text', 'json', 'yaml']
/** Number of blocks that cannot run in a test; lower it whenever possible, and never raise it. */
const NOT_RUN_MAX = 10
const ADMIN_TOKEN = 'the-admin-token-of-this-test'
const MINUTE_MS = 60_000
/** Marks a refused call. */
const REFUSED = /"error":\{"code"/

const blocks = documentedBlocks()
const runnable = blocks.filter(
  ({ language, notRun }) => RUN.includes(language) && notRun === undefined,
)

/** Reasons why a page can't run here: install-host needs a checkout that services can see. */
const skipReasons = new Map(
  runnable
    .filter(({ code }) => code.includes('install-host'))
    .map(({ page }) => [page, hindranceOf()]),
)

/** Shell commands before and after a page's blocks, and lines put before its code. */
interface Reader {
  has?: string
  gets?: string
  code?: string
  /** Put before each block that does not create a client itself. */
  client?: string
}

const SIGNED = `
import * as given from 'standardwebhooks'
const webhookSecret = 'a secret of sixteen letters or more'
const signingSecret = 'whsec_' + Buffer.alloc(32, 7).toString('base64')
const sent = { type: 'audio.separate.completed', request_id: 'req_1', data: { target: { url: 'https://x.example' } } }
const rawBody = JSON.stringify(sent)
const now = new Date()
const headers: Record<string, string> = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
  'webhook-signature': new given.Webhook(signingSecret).sign('msg_1', now, rawBody),
}
`
const APP = `
const secret = signingSecret
const saved: string[] = []
const save = (...words: string[]) => void saved.push(...words)
interface Call { headers: Record<string, string>; rawBody: Buffer }
const app = {
  post(_path: string, handle: (call: Call, reply: { send(): void }) => void) {
    handle({ headers, rawBody: Buffer.from(rawBody) }, { send() {} })
    if (saved.length !== 2) throw new Error('nothing was saved')
  },
}
`
const CLIENT = `
import { createClient } from 'winnow-client/node'
const client = createClient({ baseUrl: 'http://127.0.0.1:8080', apiKey: process.env.WINNOW_API_KEY })
`
const PYTHON_CLIENT = `
import os
from winnow_client import Client
client = Client("http://127.0.0.1:8080", os.environ["WINNOW_API_KEY"])
`
const SONGS = 'mkdir songs; cp media/one.flac songs/'
const EPISODE = 'cp media/episode.wav .'
const READERS: Readonly<Record<string, Reader>> = {
  'README.md': {
    has: `${SONGS}; cp media/episode.wav mix.wav`,
    gets: 'test -s examples/drums-and-flute.rest.without-drums.wav -a -s stems/one.vocals.wav -a -s piano.wav',
  },
  'docs/start.md': {
    has: 'mkdir recordings; cp media/episode.wav recordings/',
    gets: 'test -s stems/episode.speech.wav -a -s stems/episode.rest.without-speech+music.wav',
  },
  'docs/how-to/api.md': { gets: 'test -s piano.wav', code: SIGNED },
  'docs/how-to/backup.md': { gets: 'test -s restored/winnow.db' },
  'docs/how-to/podcast.md': {
    has: `${EPISODE}; mkdir season; cp media/episode.wav season/`,
    gets:
      'test -s episode.a-person-speaking.flac -a -s clean/episode.rest.without-phone-ringing.wav ' +
      '-a -s clean/episode.rest.without-keyboard-typing+dog-barking.wav && ls voices',
  },
  'docs/how-to/songs.md': {
    has: `${SONGS}; cp media/one.flac song.flac`,
    gets:
      'for part in vocals drums bass rest.without-vocals+drums+bass; do ' +
      'test -s stems/one.$part.flac; done; test -s rest.flac',
  },
  'docs/how-to/any-sound.md': {
    has: 'cp media/street.wav .',
    gets:
      'test -s street.rest.without-siren.flac -a -s parts/street.speech.wav ' +
      '-a -s parts/street.rest.without-siren+speech.wav',
  },
  'docs/reference/media.md': { has: 'cp media/scene.mp4 .', gets: 'test -s speech.mp4' },
  'docs/how-to/video.md': {
    has: 'cp media/scene.mp4 .',
    gets:
      'test -s scene.rest.without-speech.wav -a -s scene.speech.mp4 -a -s dialogue.mp4 ' +
      '-a -s parts/scene.rest.without-speech+music.mp4',
  },
  'docs/how-to/games.md': {
    has: 'mkdir field; cp media/street.wav field/',
    gets: 'test -s effects/street.siren.flac -a -s effects/street.rest.without-siren+footsteps.flac -a -s siren.json',
  },
  'docs/how-to/gpu-batch.md': {
    has: 'mkdir recordings; cp media/episode.wav recordings/',
    gets: 'test -s voices/episode.speech.wav',
  },
  'docs/how-to/webhooks.md': {
    has: EPISODE,
    gets:
      'timeout 20 sh -c "until grep -q dropped listener.log; do sleep 0.1; done"; ' +
      'until test $(grep -c audio.separate.completed listener.log) = 2; do sleep 0.1; done; ' +
      'test $(wc -l < seen.txt) = 2',
  },
  'clients/typescript/README.md': {
    has: 'cp media/scene.mp4 walk.mp4; cp media/episode.wav .',
    gets: 'test -s dog.wav -a -s rest.wav',
    code: SIGNED + APP,
    client: CLIENT,
  },
  'clients/python/README.md': {
    has: 'cp media/scene.mp4 walk.mp4; cp media/episode.wav .',
    gets: 'test -s dog.wav -a -s rest.wav',
    client: PYTHON_CLIENT,
  },
}

let winnow: Winnow
let folder: string
let compiled: Promise<void>
let pythonPath: string
/** Pairs of a text in the documents and its replacement here. */
const replacements: [string, string][] = []

before(async (t) => {
  folder = await mkdtemp(join(tmpdir(), 'docs-'))
  winnow = await startWinnow(t as TestContext, {
    env: { EGRESS_ALLOW_CIDRS: '127.0.0.0/8', ADMIN_TOKEN, FAL_API: 'on' },
  })
  const street = await readFile(examplePath('siren-and-speech.wav'))
  const example = await serve(t as TestContext, (_request, reply) => void reply.end(street))
  const { grpc = '', metrics = '' } = winnow.gateway.ready
  replacements.push(
    ['http://127.0.0.1:8080', winnow.url],
    ['127.0.0.1:8081', grpc],
    ['http://127.0.0.1:9080', metrics],
    ['https://example.com', example.url],
    ['/models/sam-audio-small', join(ROOT, 'test/fixtures/sam-audio')],
  )
  await writeFile(join(winnow.folder, 'api-key'), API_KEY)
  pythonPath = `${join(ROOT, 'clients/python/src')}:${await pythonPackages('httpx==0.28.1')}`
  await Promise.all([makeReaderMedia(), makeNodeModules(), makeNpm()])
  compiled = compileBlocks()
  compiled.catch(() => undefined) // the types test awaits it, and so does every page
})
after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

async function makeReaderMedia(): Promise<void> {
  const media = join(folder, 'media')
  await mkdir(media)
  for (const name of ['episode.wav', 'street.wav'])
    await cp(examplePath('siren-and-speech.wav'), join(media, name))
  await makeMedia(join(media, 'scene.mp4'), 'mp4', {
    audio: { planes: [noise(2, 44_100)], sampleRate: 44_100, encoder: 'aac' },
    video: { seconds: 2, encoder: 'libx264' },
  })
  const song = examplePath('drums-and-flute.wav')
  const { submitted } = await separateFile(winnow, song, { prompt: 'drums', output_format: 'flac' })
  await writeFile(join(media, 'one.flac'), (await downloadResult(winnow, submitted)).target)
}

/** Links the checkout's packages, and builds the client as its README says. */
async function makeNodeModules(): Promise<void> {
  const modules = join(folder, 'node_modules')
  const client = join(modules, 'winnow-client')
  await mkdir(client, { recursive: true })
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  }
  await cp(join(ROOT, 'clients/typescript/package.json'), join(client, 'package.json'))
  execFileSync(
    process.execPath,
    [TSC, '-p', 'clients/typescript', '--outDir', join(client, 'dist')],
    { cwd: ROOT },
  )
}

const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc')

/**
 * Makes an `npm` for readers that starts our scripts directly, because the real one takes a
 * quarter of a second of a processor for each, and the documents have a hundred.
 */
async function makeNpm(): Promise<void> {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim()
  const commands = Object.entries(scripts)
    .filter(([, line]) => line.startsWith('node ') && !line.includes('&&'))
    .map(([name, line]) => `"run ${name} --") shift 3; exec ${line} "$@" ;;`)
  const lines = [
    '#!/bin/sh',
    '[ "$2" = -s ] && { shift 2; set -- run "$@"; }',
    'case "$1 $2 $3" in',
    ...commands,
    `*) exec ${npm} "$@" ;;`,
    'esac',
    '',
  ]
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin/npm'), lines.join('\n'), { mode: 0o755 })
}

test('every block names its language, and only a few cannot run', (t) => {
  const languages = [...RUN, ...NO_CODE]
  for (const { page, line, language } of blocks) {
    assert.ok(
      languages.includes(language),
      `${page}:${line} names its language: ${languages.join(', ')}`,
    )
  }
  const notRunBlocks = blocks.filter((block) => block.notRun !== undefined)
  for (const { page, line, notRun } of notRunBlocks)
    t.diagnostic(`not run: ${page}:${line}: ${notRun}`)
  t.diagnostic(`${runnable.length} blocks run, ${notRunBlocks.length} do not`)
  assert.ok(runnable.length >= 30, `${runnable.length} blocks run`)
  assert.ok(notRunBlocks.length <= NOT_RUN_MAX, `${notRunBlocks.length} blocks do not run`)
})

test('blocks that cannot run have valid syntax, and the tests that they name exist', () => {
  for (const { page, line, code, notRun = '' } of blocks.filter(
    ({ notRun }) => notRun !== undefined,
  )) {
    assert.doesNotThrow(() => execFileSync('bash', ['-n'], { input: code }), `${page}:${line}`)
    for (const [path] of notRun.matchAll(/test\/[\w./-]+/g))
      assert.ok(existsSync(join(ROOT, path)), path)
  }
})

test('every block of TypeScript passes the type check', () => compiled)

/** Compiles every block of TypeScript; the tests run its output, which starts faster than tsx. */
async function compileBlocks(): Promise<void> {
  const types = join(folder, 'types')
  await mkdir(types)
  for (const block of runnable) {
    if (block.language === 'ts') await writeFile(join(types, nameOf(block)), sourceOf(block))
  }
  const options = {
    types: ['node'],
    typeRoots: ['../node_modules/@types'],
    noUnusedLocals: false,
    noEmit: false,
    allowImportingTsExtensions: false,
    outDir: 'run',
  }
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: options,
    include: ['*.mts'],
    exclude: [],
  }
  await writeFile(join(types, 'tsconfig.json'), JSON.stringify(config))
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, [TSC, '-p', types], (error, output) =>
      error ? reject(new Error(output)) : resolve(),
    )
  })
}

/** Returns a file name: `docs-start-md-9.mts` for `docs/start.md`, line 9. */
const nameOf = ({ page, line, language }: CodeBlock): string =>
  `${page.replaceAll(/[/.]/g, '-')}-${line}.${language === 'ts' ? 'mts' : 'py'}`

/** Returns whether a page tolerates other users of the service, and so may run beside the others. */
const isShared = (page: string) => /^(clients|docs\/reference)\//.test(page)

describe('the blocks of a page run one after the other', { concurrency: 2 }, () => {
  const pages = [...new Set(runnable.map(({ page }) => page))]
  describe('how-to', { concurrency: 1 }, () => runPages(pages.filter((page) => !isShared(page))))
  describe('reference and clients', { concurrency: 1 }, () => runPages(pages.filter(isShared)))
})

function runPages(pages: readonly string[]): void {
  for (const page of pages) {
    test(page, { timeout: 5 * MINUTE_MS, skip: skipReasons.get(page) ?? false }, async () => {
      await compiled
      const output = await runPage(page)
      assert.doesNotMatch(output, REFUSED)
      for (const { shown, printed, line } of outputsOf(page, output)) {
        assert.match(printed, patternOf(shown), `${page}:${line} shows what is printed`)
      }
    })
  }
}

function sourceOf({ page, language, code }: CodeBlock): string {
  const { code: lines = '', client = '' } = READERS[page] ?? {}
  const opened = /^(import|from) .*\b(createClient|Client)\b/m.test(code) ? '' : client
  return replaceAddresses((language === 'ts' ? lines : '') + opened + code)
}

function replaceAddresses(code: string, more: [string, string][] = []): string {
  return [...replacements, ...more].reduce((text, [from, to]) => text.replaceAll(from, to), code)
}

const announcement = ({ page, line }: CodeBlock): string => `--- ${page}:${line}`

/** Returns each output that a page shows, with what the block before it printed. */
function outputsOf(page: string, output: string) {
  const ofPage = blocks.filter((block) => block.page === page)
  return ofPage.flatMap((block, i) => {
    if (!block.isOutput) return []
    const [, after = ''] = output.split(`${announcement(ofPage[i - 1]!)}\n`)
    const printed = replacements.reduce((text, [to, from]) => text.replaceAll(from, to), after)
    return [{ shown: block.code, printed: printed.split(/^--- /m)[0]!, line: block.line }]
  })
}

/** Returns a pattern for an output, in which `…` stands for anything within a line. */
const patternOf = (shown: string): RegExp =>
  new RegExp(
    shown
      .trim()
      .split('…')
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  )

/** Returns what the blocks print; throws an Error with it if one of them fails. */
async function runPage(page: string): Promise<string> {
  const cwd = await makeCheckout(page)
  const [port = 0] = await freePorts(1)
  const hooks = ['https://hooks.example.com', 'http://127.0.0.1:3000'].map(
    (address): [string, string] => [address, `http://127.0.0.1:${port}`],
  )
  const { has = '', gets = '' } = READERS[page] ?? {}
  const steps = runnable
    .filter((block) => block.page === page)
    .map(async (block) => {
      const announced = `echo '${announcement(block)}'`
      if (block.language === 'sh') return `${announced}\n${replaceAddresses(block.code, hooks)}`
      const name = nameOf(block)
      if (block.language === 'python') await writeFile(join(cwd, name), sourceOf(block))
      const command =
        block.language === 'ts'
          ? `node types/run/${name.replace(/mts$/, 'mjs')}`
          : `python3 ${name}`
      if (!block.code.includes('.listen(')) return `${announced}\n${command}`
      const isUp = `(: > /dev/tcp/127.0.0.1/${port}) 2> /dev/null`
      return `${announced}\n${command} > listener.log &\nuntil ${isUp}; do sleep 0.1; done`
    })
  const script = [
    "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
    `trap 'echo "failed: $BASH_COMMAND" >&2' ERR`,
    'set -euo pipefail',
    has,
    ...(await Promise.all(steps)),
    gets,
  ].join('\n')
  const { DATA_DIR: _ofTheMachine, ...inherited } = process.env
  const env = {
    ...inherited,
    WINNOW_URL: winnow.url,
    WINNOW_API_KEY: API_KEY,
    ADMIN_TOKEN,
    WEBHOOK_SECRET: 'a secret of sixteen letters or more',
    PORT: String(port),
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    PYTHONPATH: pythonPath,
    PYTHONDONTWRITEBYTECODE: '1',
  }
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, output: string, errors: string) =>
      error ? reject(new Error(`${output}\n${errors}`)) : resolve(output)
    execFile('bash', ['-c', script], { cwd, env, maxBuffer: 1e8 }, done)
  })
}

/** Creates a folder like a checkout, with the service's data. */
async function makeCheckout(page: string): Promise<string> {
  const cwd = join(folder, page.replaceAll(/[/.]/g, '-'))
  await mkdir(join(cwd, 'examples'), { recursive: true })
  for (const name of [
    'package.json',
    'tsconfig.json',
    'scripts',
    'gateway',
    'shared',
    'clients',
    'proto',
    '.runtime',
  ]) {
    await symlink(join(ROOT, name), join(cwd, name))
  }
  for (const name of ['node_modules', 'media', 'types'])
    await symlink(join(folder, name), join(cwd, name))
  for (const name of ['drums-and-flute.wav', 'speech-over-piano.wav']) {
    await cp(examplePath(name), join(cwd, 'examples', name))
  }
  await symlink(winnow.folder, join(cwd, 'data'))
  return cwd
}
