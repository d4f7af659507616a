/** The commands of `npm run accounts`. */

import {
  allAccounts,
  createAccount,
  creditAccount,
  deleteAccount,
  disableAccount,
  enableAccount,
  latestChanges,
  limitAccount,
  showAccount,
  type AccountDeps,
} from '../../../gateway/accounts/accounts.ts'
import { usageByDay, usageCsv, type UsageQuery } from '../../../gateway/accounts/usage-days.ts'
import { LIMIT_NAMES } from '../../../gateway/store/schema/tables.ts'
import { commandText } from '../command-name.ts'
import { action, command, FLAG, TEXT, TEXTS, UsageError } from '../command.ts'
import { answerText, change, END_OF_HELP, withDatabase } from './change.ts'

const HELP = `Usage: ${commandText('accounts', '<command> [--json]')}

  create NAME [--metered]
                 create an account; a metered account pays for what it separates
  credit ID SECONDS [--reference TEXT]
                 add seconds of audio to its balance. The same reference, such as an invoice number,
                 counts only once, and is refused with another amount. To deduct: credit ID -- -60
  show ID        the account, its balance, and how much of the balance is reserved
  list           all accounts
  disable ID     refuse its keys, end its page sessions, and cancel its unfinished requests
  enable ID      accept its keys again
  delete ID --yes
                 delete its keys, name, requests and media for good; records of its payments and
                 usage are kept
  limit ID [--set NAME=NUMBER …]
                 set all its limits; those that you leave out get the values of the settings. Names:
                 ${LIMIT_NAMES.slice(0, 4).join(', ')},
                 ${LIMIT_NAMES.slice(4).join(', ')};
                 priority=batch restricts it to that priority
  usage [--from DAY] [--to DAY] [--account ID] [--csv]
                 the usage of each account by day, such as 2026-01-31 (default: the last 30 days);
                 --csv for a spreadsheet
  changes [--account ID] [--key ID] [--limit 100]
                 who changed accounts and keys, newest first

Accounts${END_OF_HELP}`

export const accounts = command({
  help: HELP,
  actions: {
    create: change('NAME', { metered: FLAG }, (deps, { metered }, name) =>
      createAccount(deps, { name, metered }),
    ),
    credit: change(
      'ID SECONDS',
      { reference: TEXT },
      (deps, { reference }, id = '', seconds = '') => {
        if (!/^-?\d+$/.test(seconds)) {
          throw new UsageError(`SECONDS must be a whole number, not "${seconds}".`)
        }
        return creditAccount(deps, id, {
          seconds: Number(seconds),
          ...(reference !== undefined && { reference }),
        })
      },
    ),
    show: change('ID', {}, (deps, _options, id = '') => showAccount(deps, id)),
    list: change('', {}, (deps) => allAccounts(deps)),
    limit: change('ID', { set: TEXTS }, (deps, { set = [] }, id = '') =>
      limitAccount(deps, id, Object.fromEntries(set.map(readLimit))),
    ),
    usage: action({
      options: { from: TEXT, to: TEXT, account: TEXT, csv: FLAG, json: FLAG },
      run: ({ from, to, account: accountId, csv, json }, _words, io) =>
        withDatabase(io, async (deps) => {
          const query = { from, to, accountId }
          if (!csv) return answerText(await allUsage(deps, query), json)
          for await (const lines of usageCsv(deps, query)) io.stdout.write(lines)
          return 0
        }),
    }),
    disable: change('ID', {}, (deps, _options, id = '') => disableAccount(deps, id)),
    enable: change('ID', {}, (deps, _options, id = '') => enableAccount(deps, id)),
    delete: change('ID', { yes: FLAG }, (deps, { yes }, id = '') => {
      if (!yes) throw new UsageError('A deleted account does not come back: add --yes.')
      return deleteAccount(deps, id)
    }),
    changes: change(
      '',
      { account: TEXT, key: TEXT, limit: { ...TEXT, default: '100' } },
      (deps, { account, key, limit }) =>
        latestChanges(deps, {
          ...(account !== undefined && { accountId: account }),
          ...(key !== undefined && { keyId: key }),
          limit: Number(limit),
        }),
    ),
  },
})

/** @throws UsageError if the text does not look like `streams=5` */
function readLimit(text: string): [string, number | string] {
  if (text.startsWith('priority=')) return ['priority', text.slice('priority='.length)]
  const [, name, number] = /^(\w+)=(\d+)$/.exec(text) ?? []
  if (name === undefined) {
    throw new UsageError(`--set must be NAME=NUMBER, such as streams=5, not "${text}".`)
  }
  return [name, Number(number)]
}

const ROWS_AT_ONCE = 1_000

/** All pages as one list. */
async function allUsage(deps: AccountDeps, query: UsageQuery): Promise<object> {
  const first = await usageByDay(deps, { ...query, limit: ROWS_AT_ONCE })
  const data = [...first.data]
  for (let cursor = first.next_cursor; cursor !== null;) {
    const page = await usageByDay(deps, { ...query, limit: ROWS_AT_ONCE, cursor })
    data.push(...page.data)
    cursor = page.next_cursor
  }
  return { object: 'list', data }
}
