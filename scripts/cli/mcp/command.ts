/** Runs `mcp`, which offers the service as tools for agents over standard input and output. */

import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { contentTypeOf } from '../../../clients/typescript/content-type.ts'
import { createClient, type Client } from '../../../clients/typescript/node.ts'
import type { Calls, LocalFiles } from '../../../shared/mcp/calls.ts'
import { createMcpServer } from '../../../shared/mcp/server.ts'
import { makeFolder } from '../../../shared/process/make-folder.ts'
import { commandText } from '../command-name.ts'
import { action, command, type ProcessIo } from '../command.ts'
import { describe, readAccess, SERVICE, SERVICE_HELP } from '../service-access.ts'

const HELP = `Usage: ${commandText('mcp', '[options]')}

Serves the Model Context Protocol on standard input and output, for an agent that starts it. Its
tools separate sounds with a running service, list the sounds in files, and save outputs.

${SERVICE_HELP}

It exits when standard input ends, and cancels the requests that it is waiting for.
`

export const mcp = command<ProcessIo>({
  help: HELP,
  isCancelable: true,
  describe,
  actions: action({
    options: SERVICE,
    async run(options, _operands, { env, stdin, stdout, signal }: ProcessIo) {
      const access = readAccess(options, env)
      const clientOf = (signal: AbortSignal) => createClient({ ...access, signal })
      const server = createMcpServer({
        calls: (signal) => callsOf(clientOf(signal)),
        files: (signal) => filesOf(clientOf(signal)),
      })
      const ended = new Promise<void>((resolve) => (server.server.onclose = resolve))
      const close = () => void server.close()
      stdin.once('end', close)
      signal.addEventListener('abort', close)
      await server.connect(new StdioServerTransport(stdin, stdout))
      await ended
      return 0
    },
  }),
})

function callsOf(client: Client): Calls {
  type Body = Parameters<Client['submit']>[0]
  return {
    models: () => client.models(),
    createFile: (file) => client.createFile(file) as ReturnType<Calls['createFile']>,
    submit: (body) => client.submit(body as Body),
    submitSounds: (body) => client.submitSounds(body as Body),
    status: (id) => client.status(id),
    // also of a list of sounds
    result: (id) => client.result(id) as ReturnType<Calls['result']>,
    cancel: (id) => client.cancel(id),
  }
}

const filesOf = (client: Client): LocalFiles => ({
  upload: (path, onProgress) => client.upload(path, contentTypeOf(path), onProgress),
  async save(url, fileName, folder) {
    await makeFolder(resolve(folder))
    const path = join(resolve(folder), basename(fileName))
    if (existsSync(path)) throw new Error(`${path} already exists: name another folder.`)
    await client.download(url, path)
    return path
  },
})
