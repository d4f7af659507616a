/** Runs `requests`, from its command line to its exit code. */

import {
  ApiError,
  createClient,
  type Client,
  type Status,
} from '../../../clients/typescript/node.ts'
import { DAY_SECONDS, readDuration, SECOND_MS } from '../../../shared/durations.ts'
import { commandText } from '../command-name.ts'
import {
  action,
  command,
  FLAG,
  oneOf,
  TEXT,
  UsageError,
  wholeNumber,
  type CommandIo,
} from '../command.ts'
import { printed } from '../admin/print.ts'
import { describe, ONE_RETRY, readAccess, SERVICE, SERVICE_HELP } from '../service-access.ts'

const HELP = `Usage: ${commandText('requests', 'list [options]')}
       ${commandText('requests', 'delete ID… [options]')}
       ${commandText('requests', 'share ID [--for 2d] | shares | unshare SHARE_ID…')}

  list                  the requests of the key's account, newest first
  delete ID…            delete requests with their outputs and logs for good; requests in progress
                        are canceled first. Uploaded files are kept until they expire
  share ID              print a link that plays the result in a browser, without a key
  shares                the shares that have not expired, newest first
  unshare SHARE_ID…     revoke shares

  --limit N             list: how many, 1 to 1000 (default 20)
  --status WORD         list: only IN_QUEUE, IN_PROGRESS, COMPLETED or FAILED
  --for TIME            share: how long the link works, 60s to 7d (default 1d), at most until the
                        outputs expire
  --json                print JSON for programs; delete and unshare print a line for each id
${SERVICE_HELP}

Delete and unshare print the ids of what they removed. The exit code is 0 if everything was done, 1
if something was refused, 2 if the command line is wrong, and 130 if canceled.
`

const LIMIT = '20'
const LIMIT_MAX = 1_000
const SHARED_FOR = '1d'
const STATUSES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const
const COMMON = { json: FLAG, ...SERVICE }

/** How many entries the service returns at once. */
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
        const wantedStatus = oneOf('--status', status?.toUpperCase(), STATUSES)
        const client = createClient({ ...readAccess(access, env), ...ONE_RETRY, signal })
        const data = await newest(client, limit, wantedStatus)
        return listed(data, json)
      },
    }),
    delete: action({
      operands: ['ID…'],
      options: COMMON,
      run({ json, ...access }, ids, io) {
        const client = createClient({ ...readAccess(access, io.env), signal: io.signal })
        const end = (id: string) => client.delete(id)
        return endAll({ ids, end, idName: 'request_id', state: 'deleted', json }, io)
      },
    }),
    share: action({
      operands: ['ID'],
      options: { for: { ...TEXT, default: SHARED_FOR }, ...COMMON },
      async run({ for: time, json, ...access }, [id], { env, signal, stderr }) {
        const expiresInSeconds = readSeconds('--for', time)
        const client = createClient({ ...readAccess(access, env), ...ONE_RETRY, signal })
        const share = await client.share(id!, { expiresInSeconds })
        if (json) return `${JSON.stringify(share)}\n`
        stderr.write(`plays until ${share.expires_at}; revoke it: unshare ${share.share_id}\n`)
        return `${share.url}\n`
      },
    }),
    shares: action({
      options: COMMON,
      async run({ json, ...access }, _operands, { env, signal }) {
        const client = createClient({ ...readAccess(access, env), ...ONE_RETRY, signal })
        const shares = await client.shares()
        return json ? `${JSON.stringify(shares)}\n` : printed(shares)
      },
    }),
    unshare: action({
      operands: ['SHARE_ID…'],
      options: COMMON,
      run({ json, ...access }, ids, io) {
        const client = createClient({ ...readAccess(access, io.env), signal: io.signal })
        const end = (id: string) => client.revokeShare(id)
        return endAll({ ids, end, idName: 'share_id', state: 'revoked', json }, io)
      },
    }),
  },
})

type RequestItems = Awaited<ReturnType<Client['list']>>['data']

function listed(data: RequestItems, json: boolean): string {
  const all = { object: 'list', data }
  if (json) return `${JSON.stringify(all)}\n`
  const rows = data.map(({ request_id, created_at, status, error, file_name, ...prompted }) => ({
    request_id,
    created_at,
    status: error?.code ?? status,
    file_name,
    prompts:
      prompted.model === 'audio/sounds'
        ? '(the sounds in it)'
        : (prompted.prompts ?? [prompted.prompt]).join(', '),
  }))
  return printed({ ...all, data: rows })
}

async function newest(
  client: Client,
  limit: number,
  status: Status['status'] | undefined,
): Promise<RequestItems> {
  const listed: RequestItems = []
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

/** @throws UsageError */
function readSeconds(option: string, text: string): number {
  const seconds = (readDuration(text) ?? 0) / SECOND_MS
  if (seconds >= 60 && seconds <= 7 * DAY_SECONDS) return Math.floor(seconds)
  throw new UsageError(`${option} takes 60s to 7d, such as 12h, not "${text}"`)
}

interface Ending {
  ids: readonly string[]
  end(id: string): Promise<void>
  idName: 'request_id' | 'share_id'
  /** The resulting state, in words. */
  state: string
  json: boolean
}

/** A refused request does not stop the others; a refused key or an unreachable service does. */
async function endAll(
  { ids, end, idName, state, json }: Ending,
  { stdout, stderr }: CommandIo,
): Promise<number> {
  let refused = 0
  for (const id of new Set(ids)) {
    try {
      await end(id)
      stdout.write(json ? `${JSON.stringify({ [idName]: id, state })}\n` : `${id}\n`)
    } catch (error) {
      if (!(error instanceof ApiError && isAboutOne(error))) throw error
      const { code, message } = error
      const line = { [idName]: id, state: 'refused', error: { code, message } }
      if (json) stdout.write(`${JSON.stringify(line)}\n`)
      else stderr.write(`${id}: ${describe(error)}\n`)
      refused += 1
    }
  }
  return refused === 0 ? 0 : 1
}

const isAboutOne = ({ code }: ApiError): boolean => code === 'NOT_FOUND' || code === 'MEDIA_IN_USE'
