/**
 * The MCP server: the service as tools for an agent. `winnow mcp` and the gateway both serve these
 * tools, and each calls the API in its own way. Bytes of media never pass through the model.
 */

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { shellWord } from '../shell-word.ts'
import { version } from '../version.ts'
import { answerOf, outputsOf } from './answer.ts'
import type { Calls, LocalFiles } from './calls.ts'
import {
  DownloadInput,
  DownloadOutput,
  GetRequestInput,
  ModelsOutput,
  UploadInput,
  RequestInput,
  RequestOutput,
  separateInput,
  soundsInput,
  UploadOutput,
  type SeparateArguments,
  type SoundsArguments,
} from './schemas.ts'
import { answerInTime, reporterOf, statusInTime, toolResult, type Extra } from './tool-call.ts'

export interface ServerOptions {
  /** Returns the calls that a tool makes; they end with the signal. */
  calls(signal: AbortSignal): Calls
  /** Gives access to the user's files, if the server runs on their machine. */
  files?: (signal: AbortSignal) => LocalFiles
}

/** How many names a model is told at most. */
const NAMES_MAX = 1_000
const READ_ONLY = { readOnlyHint: true, openWorldHint: false }
const WRITES = { readOnlyHint: false, destructiveHint: false, openWorldHint: false }

const INSTRUCTIONS =
  'Winnow takes sounds out of audio and video. Prompts name sounds ("dog barking", "drums", ' +
  '"speech"), not tasks. If you do not know what is in a file, call list_sounds first. Every ' +
  'prompt gets an output, so look at findings: they say whether it holds the sound, and what to ' +
  'try instead.'

/** Creates a server with all tools, to be connected to one transport. */
export function createMcpServer(options: ServerOptions): McpServer {
  const server = new McpServer({ name: 'winnow', version }, { instructions: INSTRUCTIONS })
  separateTool(server, options)
  soundsTool(server, options)
  requestTools(server, options)
  modelsTool(server, options)
  uploadTool(server, options)
  if (options.files) downloadTool(server, options, options.files)
  return server
}

function separateTool(server: McpServer, options: ServerOptions): void {
  server.registerTool(
    'separate',
    {
      title: 'Separate a sound',
      description:
        'Takes one or several sounds out of audio or video. A prompt names a sound, such as ' +
        '"speech", "drums" or "a dog barking". Give exactly one source: audio_url, file_id, or ' +
        `request_id with output${options.files ? ', or the path of a local file' : ''}. The ` +
        'answer has a signed link for each sound (target) and for the rest (residual), which ' +
        'add up to the original. It costs the seconds of the media, once for each prompt. ' +
        'Expect a fraction of that time on a GPU, and up to several times that on a CPU. If it ' +
        'takes longer than wait_seconds, it continues, and the answer has a request_id to ask for.',
      inputSchema: separateInput(options.files !== undefined),
      outputSchema: RequestOutput,
      annotations: { ...WRITES, openWorldHint: true },
    },
    ({ path, wait_seconds, ...input }: SeparateArguments, extra: Extra) =>
      ask(options, extra, { kind: 'submit', input, path, seconds: wait_seconds }),
  )
}

function soundsTool(server: McpServer, options: ServerOptions): void {
  server.registerTool(
    'list_sounds',
    {
      title: 'List the sounds in a file',
      description:
        'Lists the sounds in audio or video, the most prominent first: how probable each one is, ' +
        'what share of the media it covers, and where it is heard. Each name works as a prompt ' +
        'of separate. It takes seconds, and costs a tenth of a separation.',
      inputSchema: soundsInput(options.files !== undefined),
      outputSchema: RequestOutput,
      annotations: { ...WRITES, openWorldHint: true },
    },
    ({ path, wait_seconds, ...input }: SoundsArguments, extra: Extra) =>
      ask(options, extra, { kind: 'submitSounds', input, path, seconds: wait_seconds }),
  )
}

interface Question {
  kind: 'submit' | 'submitSounds'
  input: object
  path: string | undefined
  seconds: number
}

/** Uploads a local file if one is named, submits, and waits for the answer as long as allowed. */
function ask(options: ServerOptions, extra: Extra, { kind, input, path, seconds }: Question) {
  return toolResult(async () => {
    const { signal } = extra
    const calls = options.calls(signal)
    const report = reporterOf(extra)
    const media = path === undefined ? {} : { file_id: await upload(path) }
    const { request_id: requestId } = await calls[kind]({ input: { ...input, ...media } })
    return answerInTime(calls, requestId, { seconds, signal, report })

    async function upload(file: string): Promise<string> {
      if ('file_id' in input) throw new Error('Give path or file_id, not both.')
      let [percent, sent] = [0, report(0, 'uploading')]
      const fileId = await options.files!(signal).upload(file, (part) => {
        if (Math.floor(100 * part) === percent) return
        percent = Math.floor(100 * part)
        sent = sent.then(() => report(0, `uploading, ${percent} %`))
      })
      await sent
      return fileId
    }
  })
}

function requestTools(server: McpServer, { calls }: ServerOptions): void {
  server.registerTool(
    'get_request',
    {
      title: 'Get a request',
      description:
        'Returns the status of a request, and its result once it is COMPLETED. With wait_seconds ' +
        'it waits for the end. It costs nothing.',
      inputSchema: GetRequestInput,
      outputSchema: RequestOutput,
      annotations: READ_ONLY,
    },
    ({ request_id: id, wait_seconds: seconds }, extra) =>
      toolResult(async () => {
        const waiting = { seconds, signal: extra.signal, report: reporterOf(extra) }
        const client = calls(extra.signal)
        return answerOf(client, await statusInTime(client, id, waiting))
      }),
  )
  server.registerTool(
    'cancel_request',
    {
      title: 'Cancel a request',
      description: 'Cancels a request that is not finished. Canceled requests cost nothing.',
      inputSchema: RequestInput,
      outputSchema: RequestOutput,
      annotations: { ...WRITES, destructiveHint: true, idempotentHint: true },
    },
    ({ request_id: id }, { signal }) =>
      toolResult(async () => {
        const client = calls(signal)
        return answerOf(client, await client.cancel(id))
      }),
  )
}

function modelsTool(server: McpServer, { calls }: ServerOptions): void {
  server.registerTool(
    'list_models',
    {
      title: 'List the models',
      description:
        'Lists the models of the service and the names of the sounds that each one knows. Models ' +
        'that take text may understand other words too. It costs nothing.',
      inputSchema: {},
      outputSchema: ModelsOutput,
      annotations: READ_ONLY,
    },
    (_nothing, { signal }) =>
      toolResult(async () => {
        const { data } = await calls(signal).models()
        const models = data.flatMap(({ separators = [] }) => separators)
        return {
          models: models.map(({ name, summary, answers, stems, names, licence }) => ({
            name,
            summary,
            answers,
            stems,
            names: names?.slice(0, NAMES_MAX),
            licence,
          })),
        }
      }),
  )
}

function uploadTool(server: McpServer, { calls }: ServerOptions): void {
  server.registerTool(
    'create_upload',
    {
      title: 'Create an upload',
      description:
        'Returns an address to send a file to, and the curl command that sends it; run that on ' +
        'the machine with the file. Then pass file_id to separate or list_sounds. It costs ' +
        'nothing.',
      inputSchema: UploadInput,
      outputSchema: UploadOutput,
      annotations: WRITES,
    },
    (file, { signal }) =>
      toolResult(async () => {
        const created = await calls(signal).createFile({ ...file, purpose: 'audio.separate.input' })
        const { file_id, upload_url, upload_method: method, headers, expires_at } = created
        const words = [
          ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
          ...['--upload-file', file.file_name, upload_url],
        ]
        return {
          file_id,
          upload_url,
          method,
          headers,
          curl: `curl --fail -X ${method} ${words.map(shellWord).join(' ')}`,
          expires_at,
          next: 'Run the command of curl, then call separate or list_sounds with file_id.',
        }
      }),
  )
}

function downloadTool(
  server: McpServer,
  { calls }: ServerOptions,
  files: (signal: AbortSignal) => LocalFiles,
): void {
  server.registerTool(
    'download',
    {
      title: 'Download the outputs',
      description:
        'Saves all outputs of a COMPLETED separation to a folder on this machine, without ' +
        'overwriting existing files.',
      inputSchema: DownloadInput,
      outputSchema: DownloadOutput,
      annotations: WRITES,
    },
    ({ request_id: id, folder }, { signal }) =>
      toolResult(async () => {
        const { data } = await calls(signal).result(id)
        const paths: string[] = []
        for (const { url, video_url: video, file_name: name } of outputsOf(data) ?? []) {
          paths.push(await files(signal).save(url, name, folder))
          const picture = name.replace(/\.\w+$/, '.mp4')
          if (video !== undefined) paths.push(await files(signal).save(video, picture, folder))
        }
        return { paths }
      }),
  )
}
