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
} from '../../../gateway/accounts/accounts.ts'
import { LIMIT_NAMES } from '../../../gateway/accounts/limits.ts'
import { commandText } from '../command-name.ts'
import { command, FLAG, TEXT, TEXTS, UsageError } from '../command.ts'
import { change } from './change.ts'

const HELP = `Usage: ${commandText('accounts', '<command> [--json]')}

  create NAME [--metered]
                 make an account; a metered one pays for what it separates
  credit ID SECONDS [--reference TEXT]
                 add to its balance, which is in seconds of audio; with a reference, such as the
                 number of an invoice, only once; another amount with it is refused. To take back:
                 credit ID -- -60
  show ID        the account, its balance, and how much of it is reserved
  list           all accounts
  disable ID     refuse its keys, end its page sessions, cancel what it has under way
  enable ID      admit its keys again
  delete ID --yes
                 remove its keys, name, requests and media for good; what it paid and used stays on
                 record
  limit ID [--set NAME=NUMBER …]
                 set all its limits: what is left out is as the settings say. Names:
                 ${LIMIT_NAMES.slice(0, 4).join(', ')},
                 ${LIMIT_NAMES.slice(4).join(', ')}
  changes [--account ID] [--key ID] [--limit 100]
                 who changed accounts and keys, the latest first

The accounts are in the database in DATA_DIR (default ./data); a running gateway knows of a change
at once. --json prints for programs. The exit code is 0 when done, 1 when refused, 2 when the
command line is wrong.
`

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
function readLimit(text: string): [string, number] {
  const [, name, number] = /^(\w+)=(\d+)$/.exec(text) ?? []
  if (name === undefined) {
    throw new UsageError(`--set must be NAME=NUMBER, such as streams=5, not "${text}".`)
  }
  return [name, Number(number)]
}
