/** The MCP server, called by the client of the MCP SDK: `winnow mcp` as a process, and a gateway's `/mcp`. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { RequestAnswer } from '../../../shared/mcp/schemas.ts'
import { examplePath } from '../../support/media/examples.ts'
import { API_KEY } from '../../support/processes/start-winnow.ts'
import { started, winnow } from './winnow.ts'

const COMMAND = fileURLToPath(new URL('../../../scripts/cli/winnow.mjs', import.meta.url))
const EXAMPLE = examplePath('drums-and-flute.wav')

let stdio: Client
let http: Client

before(async (t) => {
  await started
  const env = { PATH: process.env.PATH!, WINNOW_URL: winnow.url, WINNOW_API_KEY: API_KEY }
  const args = [COMMAND, 'mcp']
  stdio = await connected(
    t as TestContext,
    new StdioClientTransport({ command: process.execPath, args, env }),
  )
  http = await connected(t as TestContext, transportTo(winnow.url, API_KEY))
})

const transportTo = (url: string, key: string) =>
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })

async function connected(t: Pick<TestContext, 'after'>, transport: object): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const problems: Error[] = []
  client.onerror = (error) => problems.push(error)
  await client.connect(transport as Transport)
  await client.listTools() // so the client validates answers against their schemas
  t.after(async () => {
    await client.close()
    assert.deepEqual(problems.filter(isProtocolError), [])
  })
  return client
}

/** Returns whether a server printed something that is not a message of the protocol. */
const isProtocolError = ({ name }: Error) => name === 'SyntaxError' || name === 'ZodError'

interface ToolAnswer extends RequestAnswer {
  isError?: boolean
}

async function call(client: Client, name: string, args: object, options = {}): Promise<ToolAnswer> {
  const result = await client.callTool({ name, arguments: { ...args } }, undefined, options)
  return { ...(result.structuredContent as RequestAnswer), isError: result.isError === true }
}

test('a local file is separated with progress, and its outputs are saved', async () => {
  const shown: number[] = []
  const onprogress = ({ progress }: { progress: number }) => shown.push(progress)
  const answer = await call(
    stdio,
    'separate',
    { path: EXAMPLE, prompts: ['drums', 'qwzrtx'] },
    { onprogress },
  )
  assert.equal(answer.status, 'COMPLETED', JSON.stringify(answer.error))
  const [drums, unknown] = answer.findings!
  assert.deepEqual([drums!.state, drums!.suggestions], ['found', undefined])
  assert.equal(unknown!.state, 'unknown')
  assert.ok(unknown!.suggestions!.length > 0)
  assert.match(answer.next!, /suggestions/)
  assert.ok(shown.length > 0)
  assert.deepEqual(
    shown,
    [...new Set(shown)].sort((a, b) => a - b),
    'progress grows',
  )

  const folder = join(winnow.folder, 'saved/here')
  const download = { request_id: answer.request_id, folder }
  const { paths } = (await call(stdio, 'download', download)) as { paths?: string[] }
  assert.equal(paths!.length, 3)
  for (const path of paths!) assert.equal((await readFile(path, 'latin1')).slice(0, 4), 'RIFF')
  assert.match((await call(stdio, 'download', download)).error!.message, /already exists/)
})

test('over HTTP the curl line uploads a file, and its sounds serve as prompts', async () => {
  const { size: file_size } = await stat(EXAMPLE)
  const upload = (await call(http, 'create_upload', { file_name: "it's.wav", file_size })) as {
    file_id?: string
    curl?: string
  }
  await copyFile(EXAMPLE, join(winnow.folder, "it's.wav"))
  await promisify(execFile)('sh', ['-c', upload.curl!], { cwd: winnow.folder })
  const { file_id } = upload
  const { sounds, outputs } = await call(http, 'list_sounds', { file_id })
  assert.equal(outputs, undefined)
  const prompt = sounds!.find(({ name }) => name.includes('drum'))!.name

  const started = await call(http, 'separate', { file_id, prompt, wait_seconds: 0 })
  assert.match(started.next!, /get_request/)
  const shown: number[] = []
  const onprogress = ({ progress }: { progress: number }) => shown.push(progress)
  const { request_id } = started
  const answer = await call(http, 'get_request', { request_id, wait_seconds: 50 }, { onprogress })
  assert.equal(answer.findings![0]!.state, 'found')
  assert.deepEqual(
    answer.outputs!.map(({ role }) => role),
    ['target', 'residual'],
  )
  const media = await fetch(answer.outputs![0]!.url)
  assert.equal((await media.text()).slice(0, 4), 'RIFF')
})

test('models list their names, and an error has a code and a field', async () => {
  const { models } = (await call(http, 'list_models', {})) as { models?: { names?: string[] }[] }
  assert.ok(models!.some(({ names = [] }) => names.includes('flute')))
  for (const client of [stdio, http]) {
    const refused = await call(client, 'separate', { file_id: 'file_unknown', prompt: 'drums' })
    assert.equal(refused.isError, true)
    assert.equal(refused.error!.code, 'INVALID_PARAMETER')
    assert.equal(refused.error!.param, 'input.file_id')
  }
  const onlyLocal = await http.callTool({
    name: 'separate',
    arguments: { path: EXAMPLE, prompt: 'drums' },
  })
  assert.equal(onlyLocal.isError, true, 'a gateway reads no files')
})

test('canceling a call cancels its request, and a tool cancels a request by its id', async () => {
  await winnow.engines[0]!.end('SIGKILL') // so no request ends before it is canceled
  const file_id = await winnow.client.upload(EXAMPLE, 'audio/wav')
  for (const client of [stdio, http]) {
    const controller = new AbortController()
    const waiting = call(
      client,
      'separate',
      { file_id, prompt: 'flute' },
      { signal: controller.signal, onprogress: () => controller.abort() },
    )
    await assert.rejects(waiting)
    const [latest] = (await winnow.client.list({ limit: 1 })).data
    await assert.rejects(winnow.client.wait(latest!), { code: 'CANCELED' })
  }
  const onprogress = () => void stdio.close()
  await assert.rejects(call(stdio, 'separate', { file_id, prompt: 'drums' }, { onprogress }))
  const [latest] = (await winnow.client.list({ limit: 1 })).data
  assert.equal(latest!.prompt, 'drums')
  await assert.rejects(winnow.client.wait(latest!), { code: 'CANCELED' }, 'its input has ended')

  const { request_id } = await call(http, 'separate', { file_id, prompt: 'flute', wait_seconds: 0 })
  const canceled = await call(http, 'cancel_request', { request_id })
  assert.deepEqual([canceled.status, canceled.error!.code], ['FAILED', 'CANCELED'])
})

test('a gateway refuses a wrong key, an array of messages, and any method but POST', async () => {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await assert.rejects(
    client.connect(transportTo(winnow.url, 'a-wrong-key') as Transport),
    /UNAUTHENTICATED/,
  )
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const array = await fetch(`${winnow.url}/mcp`, { method: 'POST', headers, body: '[]' })
  assert.equal(array.status, 400)
  assert.equal((await fetch(`${winnow.url}/mcp`, { headers })).status, 405)
})
