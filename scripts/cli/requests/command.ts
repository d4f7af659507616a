/** Runs `requests`, from the words of its command line to its exit code. */

import { ApiError, createClient, type Client } from '../../../clients/typescript/node.ts'
import { exitCodeOf } from '../exit-code.ts'
import { printed } from '../operator/print.ts'
import { describe } from '../separate/world.ts'
import { HELP, readArguments, type Arguments } from './arguments.ts'

/** Entries that the service gives at once. */
const PAGE_MAX = 100

/** The command's surroundings besides the network. */
interface World {
  env: Readonly<Record<string, string | undefined>>
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  /** Fires on Ctrl-C. */
  signal: AbortSignal
}

/** Runs the command and resolves with its exit code. */
export const requests = (words: readonly string[], world: World): Promise<number> =>
  exitCodeOf(async () => {
    const args = readArguments(words, world.env)
    if (args !== 'help') return obey(args, world)
    world.stdout.write(HELP)
    return 0
  }, world)

function obey(args: Arguments, world: World): Promise<number> {
  const client = createClient({ ...args, signal: world.signal })
  return args.command === 'list' ? list(client, args, world) : deleteAll(client, args, world)
}

async function list(client: Client, args: Arguments, { stdout }: World): Promise<number> {
  const data = await newest(client, args)
  const rows = data.map(({ request_id, created_at, status, error, file_name, ...prompted }) => ({
    request_id,
    created_at,
    status: error?.code ?? status,
    file_name,
    prompts: (prompted.prompts ?? [prompted.prompt]).join(', '),
  }))
  const all = { object: 'list', data }
  stdout.write(args.json ? `${JSON.stringify(all)}\n` : printed({ ...all, data: rows }))
  return 0
}

type Listed = Awaited<ReturnType<Client['list']>>['data']

async function newest(client: Client, { limit, status }: Arguments): Promise<Listed> {
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
  { ids, json }: Arguments,
  { stdout, stderr }: World,
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
