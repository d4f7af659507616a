/** The command line of `requests`. */

import { parseArgs } from 'node:util'
import type { Status } from '../../../clients/typescript/node.ts'
import { called } from '../command-name.ts'
import { suggestion } from '../separate/suggestion.ts'
import { readAccess, type Access, type Environment } from '../service-access.ts'
import { UsageError } from '../usage-error.ts'

export const HELP = `Usage: ${called('requests', 'list [options]')}
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

export interface Arguments extends Access {
  command: 'list' | 'delete'
  /** To delete, each once. */
  ids: readonly string[]
  limit: number
  status: Status['status'] | undefined
  json: boolean
}

const LIMIT = 20
const LIMIT_MAX = 1_000
const COMMANDS = ['list', 'delete'] as const
const STATUSES = ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED', 'FAILED'] as const

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
const OPTIONS = {
  limit: TEXT,
  status: TEXT,
  json: FLAG,
  url: TEXT,
  key: TEXT,
  help: { ...FLAG, short: 'h' },
} as const

/** @returns `help` when that is asked for. @throws UsageError */
export function readArguments(words: readonly string[], env: Environment): Arguments | 'help' {
  const { values, positionals } = parse(words)
  if (values.help) return 'help'
  const [name = '', ...ids] = positionals
  const command = oneOf(name, COMMANDS)
  if (command === undefined) {
    throw new UsageError(`give list or delete (see --help).${suggestion(name, COMMANDS)}`)
  }
  if (command === 'list' && ids.length > 0) throw new UsageError('list takes no ids')
  if (command === 'delete' && ids.length === 0) {
    throw new UsageError(`delete takes ids, which ${called('requests', 'list')} prints`)
  }
  if (command === 'delete' && (values.limit ?? values.status) !== undefined) {
    throw new UsageError('--limit and --status are options of list')
  }
  return {
    command,
    ids: [...new Set(ids)],
    limit: readLimit(values.limit),
    status: readStatus(values.status),
    json: values.json ?? false,
    ...readAccess(values, env),
  }
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

const oneOf = <Word extends string>(text: string, words: readonly Word[]): Word | undefined =>
  words.find((word) => word === text)

function readLimit(text = String(LIMIT)): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw new UsageError(`--limit takes a whole number from 1 to ${LIMIT_MAX}, not "${text}"`)
}

function readStatus(text: string | undefined): Status['status'] | undefined {
  if (text === undefined) return undefined
  const word = text.toUpperCase()
  const status = oneOf(word, STATUSES)
  if (status !== undefined) return status
  const known = `${STATUSES.slice(0, -1).join(', ')} or ${STATUSES.at(-1)}`
  throw new UsageError(`--status takes ${known}, not "${text}".${suggestion(word, STATUSES)}`)
}
