/** The TypeScript client's package, installed by npm into an empty folder, in Node, Bun and Deno. */

import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { buildClient, runFile, TSC } from '../../support/clients/client-package.ts'
import { noise } from '../../support/media/signals.ts'
import { wavBytes } from '../../support/media/wav.ts'
import { npmPackages } from '../../support/packages/npm-packages.ts'
import { API_KEY } from '../../support/processes/start-winnow.ts'
import { winnow } from './winnow.ts'

const MODULES = [
  'api',
  'ask',
  'call',
  'client',
  'content-type',
  'download',
  'errors',
  'event-stream',
  'follow',
  'idempotency-key',
  'node',
  'one-call',
  'peaks',
  'retry',
  'send-blob',
  'time-limit',
  'transport',
  'webhook',
]

const VERSIONS = { bun: '1.4.5', deno: '2.9.6' }
const SECONDS = 2
const SAMPLE_RATE = 16_000

/** Code of a web page, without Node's types. */
const PAGE = `
import { ApiError, createClient, type Result, type Submission } from 'winnow-client'
const input: Submission['input'] = { prompts: ['a', 'b'], file_id: 'file_1', acceleration: 'fast' }
// @ts-expect-error it is misspelt
const misspelt: Submission['input'] = { promt: 'a', file_id: 'file_1' }
export const client = createClient({ baseUrl: 'https://winnow.example', apiKey: 'key' })
export const separate = async (): Promise<Result['data']['targets']> => {
  const request = await client.submit({ input })
  for await (const { progress } of client.follow(request)) console.log(progress?.toFixed(2))
  return (await client.wait(request)).data.targets
}
export const codeOf = (error: unknown) => (error instanceof ApiError ? error.code : misspelt)
`

const PROGRAM = `
import { createClient, verifyWebhook, WebhookError } from 'winnow-client/node'
const [, , baseUrl = '', apiKey = ''] = process.argv
const client = createClient({ baseUrl, apiKey })
const fileId: string = await client.upload('package.json', 'audio/wav', () => undefined)
const { status } = await client.file(fileId)
const { data } = await client.models()
let refused = false
try {
  verifyWebhook('secret', {}, '')
} catch (error) {
  refused = error instanceof WebhookError
}
console.log(JSON.stringify({ status, model: data[0]?.id, refused }))
`

/** Uploads, submits, follows and downloads in any runtime; then makes a request that is refused. */
const separation = (media: Buffer) => `
import { ApiError, createClient } from 'winnow-client'
const [baseUrl, apiKey] = globalThis.Deno?.args ?? process.argv.slice(2)
const client = createClient({ baseUrl, apiKey })
const media = await fetch('data:audio/wav;base64,${media.toString('base64')}')
const bytes = await media.blob()
let sent = 0
const file = { name: 'sound.wav', contentType: 'audio/wav', bytes }
const fileId = await client.uploadBlob(file, (part) => (sent = part))
const input = { file_id: fileId, prompt: 'rain' }
const request = await client.submit({ input })
const statuses = []
for await (const { status } of client.follow(request)) statuses.push(status)
const { data } = await client.wait(request)
const target = await (await client.open(data.target.url)).arrayBuffer()
const refusal = await client.submit({ input: { ...input, prompt: '' } }).catch((error) => error)
console.log(JSON.stringify({
  runtime: globalThis.Deno ? 'deno' : globalThis.Bun ? 'bun' : 'node',
  sent,
  last: statuses.at(-1),
  targetBytes: target.byteLength,
  refusedAs: refusal instanceof ApiError && refusal.status,
}))
`

/** Returns the command of each runtime that runs `separation.js`. */
async function runtimes(): Promise<Record<string, string[]>> {
  const packages = await npmPackages(
    'client-runtimes',
    `@oven/bun-linux-x64-baseline@${VERSIONS.bun}`,
    `@deno/linux-x64-glibc@${VERSIONS.deno}`,
  )
  return {
    bun: [join(packages, '@oven/bun-linux-x64-baseline/bin/bun')],
    deno: [join(packages, '@deno/linux-x64-glibc/deno'), 'run', '--allow-net'],
  }
}

test('client package: installed by npm, it has types, and works in Node, Bun and Deno', async (t) => {
  const folder = await buildClient(t)
  const consumer = join(folder, 'consumer')
  await mkdir(consumer)
  const { stdout } = await runFile('npm', ['pack', '--json', '--pack-destination', consumer], {
    cwd: folder,
  })
  const [{ filename, files }] = JSON.parse(stdout)
  assert.deepEqual(
    files.map(({ path }: { path: string }) => path).sort(),
    [
      'LICENSE',
      'README.md',
      'package.json',
      ...MODULES.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]),
    ].sort(),
  )
  assert.equal(await readFile(join(folder, 'LICENSE'), 'utf8'), await readFile('LICENSE', 'utf8'))
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  assert.equal(filename, `winnow-client-${version}.tgz`)

  await writeFile(join(consumer, 'package.json'), '{"type": "module"}')
  const install = ['install', '--offline', '--no-save', '--no-audit', '--no-fund', `./${filename}`]
  await runFile('npm', install, { cwd: consumer })

  const types = join(process.cwd(), 'node_modules/@types')
  const compile = (name: string, ...options: string[]) =>
    runFile('node', [TSC, '--strict', '--target', 'es2023', ...options, name], {
      cwd: consumer,
    }).catch(({ stdout }: { stdout: string }) => assert.fail(stdout))
  await writeFile(join(consumer, 'page.ts'), PAGE)
  const bundled = ['--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit']
  await compile('page.ts', ...bundled, '--lib', 'es2023,dom,dom.iterable')
  await writeFile(join(consumer, 'program.ts'), PROGRAM)
  await compile('program.ts', '--module', 'nodenext', '--types', 'node', '--typeRoots', types)

  const { url } = winnow
  const program = await runFile('node', ['program.js', url, API_KEY], { cwd: consumer })
  assert.deepEqual(JSON.parse(program.stdout), {
    status: 'uploaded',
    model: 'audio/separate',
    refused: true,
  })
  const web = `import('winnow-client').then((client) => console.log(Object.keys(client).join()))`
  const { stdout: exported } = await runFile('node', ['-e', web], { cwd: consumer })
  assert.equal(exported.trim(), 'ApiError,UnreachableError,contentTypeOf,createClient')

  const media = wavBytes([noise(SECONDS, SAMPLE_RATE)], SAMPLE_RATE)
  await writeFile(join(consumer, 'separation.js'), separation(media))
  for (const [runtime, [file, ...words]] of Object.entries(await runtimes())) {
    const options = { cwd: consumer }
    const run = await runFile(file!, [...words, 'separation.js', url, API_KEY], options)
    const { targetBytes, ...rest } = JSON.parse(run.stdout)
    assert.deepEqual(rest, { runtime, sent: 1, last: 'COMPLETED', refusedAs: 400 })
    assert.ok(targetBytes > 3 * SECONDS * SAMPLE_RATE, `${runtime}: ${targetBytes} bytes`)
  }
})
