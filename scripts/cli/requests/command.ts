/** Runs `requests`, from the words of its command line to its exit code. */

import {
  ApiError,
  createClient,
  type Client,
  type Status,
} from '../../../clients/typescript/node.ts'
import { called } from '../command-name.ts'
import { action, command, FLAG, oneOf, TEXT, wholeNumber, type CommandIo } from '../command.ts'
import { printed } from '../operator/print.ts'
import { describe, readAccess, SERVICE } from '../service-access.ts'

const HELP = `Usage: ${called('requests', 'list [options]')}
       ${called('requests', 'delete ID… [options]')}

  list              the requests of the key's account, newest first
  delete ID…        delete requests with their outputs and logs, for good; one under way is
                    canceled first. The files that were uploaded stay until they expire

  --limit N         of list: so many, 1 to 1000 (default 20)
  --status WORD     of list: those that are IN_QUEUE, IN_PROGRESS, COMPLETED or FAILED
  --json            print for programs: of delete a line of JSON for each request
  --url URL         the service (or WINNOW_URL; default http://127.0.0.1:8080)
  --key KEY         API key (or WINNOW_API_KEY; for a service on this machine also
                    the file api-key in DATA_DIR, by default ./data)

Delete prints the ids of what it deleted. The exit code is 0 when done, 1 when something was
refused, 2 when the command line is wrong, 130 when canceled.
`

const LIMIT = '20'
const LIMIT_MAX = 1_000
const STATUSES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const
const COMMON = { json: FLAG, ...SERVICE }

/** Entries that the service gives at once. */
const PAGE_MAX = 100

export const requests = command({
  help: HELP,
  isCancelable: true,
  describe,
  actions: {
    list: action({
      options: { limit: { ...TEXT, default: LIMIT }, status: TEXT, ...COMMON },
      async run({ limit: most, status, json, ...access }, _operands, { env, signal }) {
        const limit = wholeNumber('--limit', most, 1, LIMIT_MAX)
        const wanted = oneOf('--status', status?.toUpperCase(), STATUSES)
        const client = createClient({ ...readAccess(access, env), signal })
        const data = await newest(client, limit, wanted)
        return listed(data, json)
      },
    }),
    delete: action({
      operands: ['ID…'],
      options: COMMON,
      run({ json, ...access }, ids, io) {
        const client = createClient({ ...readAccess(access, io.env), signal: io.signal })
        return deleteAll(client, { ids: [...new Set(ids)], json }, io)
      },
    }),
  },
})

type Listed = Awaited<ReturnType<Client['list']>>['data']

function listed(data: Listed, json: boolean): string {
  const all = { object: 'list', data }
  if (json) return `${JSON.stringify(all)}\n`
  const rows = data.map(({ request_id, created_at, status, error, file_name, ...prompted }) => ({
    request_id,
    created_at,
    status: error?.code ?? status,
    file_name,
    prompts: (prompted.prompts ?? [prompted.prompt]).join(', '),
  }))
  return printed({ ...all, data: rows })
}

async function newest(
  client: Client,
  limit: number,
  status: Status['status'] | undefined,
): Promise<Listed> {
  const listed: Listed = []
  for (let cursor: string | null | undefined; cursor !== null && listed.length < limit;) {
    const page = await client.list({
      limit: Math.min(PAGE_MAX, limit - listed.length),
      ...(status !== undefined && { status }),
      ...(cursor !== undefined && { cursor }),
    })
    listed.push(...page.data)
    cursor = page.next_cursor
  }
  return listed
}

/** One that is refused does not keep the others; a refused key or a service that is away does. */
async function deleteAll(
  client: Client,
  { ids, json }: { ids: readonly string[]; json: boolean },
  { stdout, stderr }: CommandIo,
): Promise<number> {
  let refused = 0
  for (const id of ids) {
    try {
      await client.delete(id)
      stdout.write(json ? `${JSON.stringify({ request_id: id, state: 'deleted' })}\n` : `${id}\n`)
    } catch (error) {
      if (!(error instanceof ApiError && isAboutOne(error))) throw error
      const { code, message } = error
      const line = { request_id: id, state: 'refused', error: { code, message } }
      if (json) stdout.write(`${JSON.stringify(line)}\n`)
      else stderr.write(`${id}: ${describe(error)}\n`)
      refused += 1
    }
  }
  return refused === 0 ? 0 : 1
}

const isAboutOne = ({ code }: ApiError): boolean => code === 'NOT_FOUND' || code === 'MEDIA_IN_USE'
