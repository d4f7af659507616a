/** Commands of `npm run keys`. */

import { allKeys, createKey, revokeKey, rotateKey } from '../../../gateway/accounts/accounts.ts'
import { SCOPES } from '../../../gateway/accounts/auth.ts'
import { called } from '../command-name.ts'
import { UsageError, type Tool } from './command.ts'

const HELP = `Usage: ${called('keys', '<command> [--json]')}

  create --scopes A,B [--account ID] [--name TEXT] [--expires 30d]
                 make a key and show it, once; without --account for the account default
  list [--account ID]
                 all keys, or those of one account
  revoke ID      the key opens nothing any more
  rotate ID      a new secret in the place of the old; all else stays

Scopes: ${SCOPES.join(', ')}.
The keys are in the database in DATA_DIR (default ./data); a running gateway knows of a change at
once. --json prints for programs. The exit code is 0 when done, 1 when refused, 2 when the command
line is wrong.
`

const text = { type: 'string' } as const

export const keys: Tool = {
  help: HELP,
  commands: {
    create: {
      operands: [],
      options: { scopes: text, account: text, name: text, expires: text },
      run: (deps, _operands, { scopes, account, name, expires }) => {
        if (typeof scopes !== 'string') throw new UsageError('create needs --scopes (see --help).')
        return createKey(deps, {
          scopes: scopes.split(/[\s,]+/).filter(Boolean),
          ...(account !== undefined && { account_id: account }),
          ...(name !== undefined && { name }),
          ...(expires !== undefined && { expires }),
        })
      },
    },
    list: {
      operands: [],
      options: { account: text },
      run: (deps, _operands, { account }) => allKeys(deps, account as string | undefined),
    },
    revoke: { operands: ['ID'], run: (deps, [id = '']) => revokeKey(deps, id) },
    rotate: { operands: ['ID'], run: (deps, [id = '']) => rotateKey(deps, id) },
  },
}
