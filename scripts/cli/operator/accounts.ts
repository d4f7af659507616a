/** Commands of `npm run accounts`. */

import {
  allAccounts,
  createAccount,
  creditAccount,
  deleteAccount,
  disableAccount,
  enableAccount,
  latestChanges,
  showAccount,
} from '../../../gateway/accounts/accounts.ts'
import { called } from '../command-name.ts'
import { UsageError, type Tool } from './command.ts'

const HELP = `Usage: ${called('accounts', '<command> [--json]')}

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
  changes [--account ID] [--key ID] [--limit 100]
                 who changed accounts and keys, the latest first

The accounts are in the database in DATA_DIR (default ./data); a running gateway knows of a change
at once. --json prints for programs. The exit code is 0 when done, 1 when refused, 2 when the
command line is wrong.
`

const text = { type: 'string' } as const

export const accounts: Tool = {
  help: HELP,
  commands: {
    create: {
      operands: ['NAME'],
      options: { metered: { type: 'boolean' } },
      run: (deps, [name], { metered = false }) => createAccount(deps, { name, metered }),
    },
    credit: {
      operands: ['ID', 'SECONDS'],
      options: { reference: { type: 'string' } },
      run: (deps, [id = '', seconds = ''], { reference }) => {
        if (!/^-?\d+$/.test(seconds)) {
          throw new UsageError(`SECONDS must be a whole number, not "${seconds}".`)
        }
        return creditAccount(deps, id, {
          seconds: Number(seconds),
          ...(reference !== undefined && { reference }),
        })
      },
    },
    show: { operands: ['ID'], run: (deps, [id = '']) => showAccount(deps, id) },
    list: { operands: [], run: allAccounts },
    disable: { operands: ['ID'], run: (deps, [id = '']) => disableAccount(deps, id) },
    enable: { operands: ['ID'], run: (deps, [id = '']) => enableAccount(deps, id) },
    delete: {
      operands: ['ID'],
      options: { yes: { type: 'boolean' } },
      run: (deps, [id = ''], { yes = false }) => {
        if (!yes) throw new UsageError('A deleted account does not come back: add --yes.')
        return deleteAccount(deps, id)
      },
    },
    changes: {
      operands: [],
      options: { account: text, key: text, limit: { type: 'string', default: '100' } },
      run: (deps, _operands, { account, key, limit }) =>
        latestChanges(deps, {
          ...(account !== undefined && { accountId: account as string }),
          ...(key !== undefined && { keyId: key as string }),
          limit: Number(limit),
        }),
    },
  },
}
