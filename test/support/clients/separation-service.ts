/** A small server that implements the API, for tests of the command-line client. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { separate } from '../../../scripts/cli/separate/command.ts'
import { temporaryFolder } from '../basics/temporary-folder.ts'
import { serve } from '../http/serve.ts'

export const KEY = 'sep_1_secret'

export type Json = Record<string, unknown>
/** What one connection to the status stream receives; `break` cuts the connection. */
type Stream = readonly (string | 'break')[]

interface FakeService {
  base: string
  /** Method and path of every request, in order. */
  calls: string[]
  file: Json | undefined
  uploaded: Buffer | undefined
  submission: (Json & { input?: Json }) | undefined
  streams: Stream[]
  /** Status and body that replace the usual response, by `METHOD path`. */
  refuse: Record<string, readonly [number, string]>
  hasVideo: boolean
  /** Name of the model in responses. */
  separator?: string
  /** Findings in the result. */
  findings: readonly Json[]
  /** Delays the response to an upload until it resolves. */
  holdUpload: () => Promise<void>
}

export const event = (name: string, data: unknown) =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
export const status = (word: string, more: Json = {}) =>
  event('status', { request_id: 'req_1', status: word, ...more })
export const LOGS = [{ timestamp: '2026-01-01T00:00:00Z', message: 'two chunks' }]
export const DONE: Stream = [status('COMPLETED', { progress: 1, logs: LOGS })]

const SEPARATORS = [
  { name: 'htdemucs', answers: 'stems', stems: ['drums', 'vocals'] },
  { name: 'mini', answers: 'text', stems: [] },
]

/** Starts the service and makes a folder with `song.mp3` and other files, all of the same content. */
export async function start(t: TestContext, ...names: string[]) {
  const folder = temporaryFolder(t)
  for (const name of ['song.mp3', ...names]) {
    await writeFile(join(folder, name), Buffer.alloc(300_000, 'song'))
  }
  return { service: await startService(t), folder, song: join(folder, 'song.mp3') }
}

async function startService(t: TestContext): Promise<FakeService> {
  const service: FakeService = {
    base: '',
    calls: [],
    file: undefined,
    uploaded: undefined,
    submission: undefined,
    streams: [DONE],
    refuse: {},
    hasVideo: false,
    findings: [],
    holdUpload: () => Promise.resolve(),
  }
  const { url } = await serve(t, (request, reply) => void answer(service, request, reply))
  service.base = url
  return service
}

async function answer(service: FakeService, request: IncomingMessage, reply: ServerResponse) {
  const { base } = service
  const call = `${request.method} ${request.url}`
  service.calls.push(call)
  const send = (code: number, body: unknown) =>
    reply.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [code, body] = service.refuse[call] ?? []
  if (code) return reply.writeHead(code).end(body)
  const isSigned = call.includes('/signed/')
  assert.equal(request.headers.authorization, isSigned ? undefined : `Bearer ${KEY}`, call)
  switch (call) {
    case 'GET /v1/models':
      return send(200, { object: 'list', data: [{ id: 'audio/separate', separators: SEPARATORS }] })
    case 'POST /v1/files': {
      service.file = JSON.parse(await text(request)) as Json
      const headers = { 'content-type': service.file.content_type }
      const place = { upload_url: `${base}/signed/upload`, upload_method: 'PUT', headers }
      return send(201, { file_id: 'file_1', ...place })
    }
    case 'PUT /signed/upload':
      assert.equal(request.headers['content-length'], String(service.file?.file_size))
      assert.equal(request.headers['content-type'], service.file?.content_type)
      service.uploaded = await buffer(request)
      await service.holdUpload()
      return send(200, {})
    case 'POST /v1/audio/separate': {
      await readForm(service, request)
      await service.holdUpload()
      return send(202, submitted(service))
    }
    case 'POST /v1/queue/audio/separate':
      service.submission = JSON.parse(await text(request)) as Json
      return send(202, submitted(service))
    case 'GET /v1/queue/requests/req_1/status/stream?logs=false':
    case 'GET /v1/queue/requests/req_1/status/stream?logs=true':
      return stream(service.streams.shift() ?? [], reply)
    case 'GET /v1/queue/requests/req_1/result': {
      const file = (role: string) => ({
        url: `${base}/signed/${role}`,
        file_name: `${role}.wav`,
        ...(service.hasVideo && { video_url: `${base}/signed/${role}-video` }),
      })
      const { findings, separator } = service
      const files = { target: file('target'), residual: file('residual') }
      const data = { ...files, duration: 6, findings, separator }
      return send(200, { request_id: 'req_1', status: 'COMPLETED', data })
    }
    case 'PUT /v1/queue/requests/req_1/cancel':
      return send(202, {})
  }
  return isSigned ? reply.end(`bytes of ${request.url}`) : send(404, {})
}

/** Records the parts of a form as if they had come by a file upload and a submit. */
async function readForm(service: FakeService, request: IncomingMessage): Promise<void> {
  const { 'content-type': type = '' } = request.headers
  const body = new Response(await buffer(request), { headers: { 'content-type': type } })
  const form = await body.formData()
  const file = form.get('file') as File
  const prompts = form.getAll('prompt') as string[]
  service.file = { file_name: file.name, content_type: file.type, file_size: file.size }
  service.uploaded = Buffer.from(await file.arrayBuffer())
  const { webhookUrl, metadata, ...input } = Object.fromEntries(
    [...form].filter(([name]) => name !== 'file' && name !== 'prompt'),
  ) as Record<string, string>
  service.submission = {
    input: { ...(prompts.length === 1 ? { prompt: prompts[0] } : { prompts }), ...input },
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...(metadata !== undefined && { metadata: JSON.parse(metadata) as Json }),
  }
}

function submitted({ base, submission }: FakeService): Json {
  const url = `${base}/v1/queue/requests/req_1`
  const webhook = { url: 'https://example.com/hook', signing_secret: 'whsec_made' }
  return {
    request_id: 'req_1',
    stream_url: `${url}/status/stream`,
    result_url: `${url}/result`,
    ...(submission?.webhookUrl !== undefined && { webhook }),
  }
}

async function stream(pieces: Stream, reply: ServerResponse): Promise<void> {
  reply.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n')
  for (const piece of pieces) {
    if (piece === 'stay') return
    if (piece === 'break') return void reply.destroy()
    for (const half of [piece.slice(0, 9), piece.slice(9)]) {
      reply.write(half)
      await new Promise(setImmediate)
    }
  }
  reply.end()
}

/** Runs the command with the service's address in its environment. */
export const run = (service: { base: string }, ...words: string[]) => runWith(service, '', words)

/** Like `run`, with `input` on standard input. */
export async function runWith(service: { base: string }, input: string, words: string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end(input)
  const env = { WINNOW_URL: service.base, WINNOW_API_KEY: KEY }
  const { signal } = new AbortController()
  const code = await separate(words, { env, stdin, stdout, stderr, signal })
  return { code, out: await text(stdout.end()), errors: await text(stderr.end()) }
}
