/** The TypeScript client's package, installed by npm into an empty folder. */

import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { buildClient, runFile, TSC } from '../support/clients/client-package.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'

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

test('client package: installed by npm, it has types, and both entry points work', async (t) => {
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
  const install = ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`]
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

  let address = ''
  const gateway = await startGateway(t, { config: { publicUrl: () => address } })
  address = await gateway.listen()
  const program = await runFile('node', ['program.js', address, gateway.key], { cwd: consumer })
  assert.deepEqual(JSON.parse(program.stdout), {
    status: 'uploaded',
    model: 'audio/separate',
    refused: true,
  })
  const web = `import('winnow-client').then((client) => console.log(Object.keys(client).join()))`
  const { stdout: exported } = await runFile('node', ['-e', web], { cwd: consumer })
  assert.equal(exported.trim(), 'ApiError,UnreachableError,contentTypeOf,createClient')
})
