/** The commands of `npm run keys`. */

import { allKeys, createKey, revokeKey, rotateKey } from '../../../gateway/accounts/accounts.ts'
import { SCOPES } from '../../../gateway/accounts/auth.ts'
import { commandText } from '../command-name.ts'
import { command, TEXT, UsageError } from '../command.ts'
import { change } from './change.ts'

const HELP = `Usage: ${commandText('keys', '<command> [--json]')}

  create --scopes A,B [--account ID] [--name TEXT] [--expires 30d] [--priority batch]
                 make a key and show it, once; without --account for the account default.
                 With --priority batch its requests let those of other keys go first
  list [--account ID]
                 all keys, or those of one account
  revoke ID      the key opens nothing any more
  rotate ID      a new secret in the place of the old; all else stays

Scopes: ${SCOPES.join(', ')}.
The keys are in the database in DATA_DIR (default ./data); a running gateway knows of a change at
once. --json prints for programs. The exit code is 0 when done, 1 when refused, 2 when the command
line is wrong.
`

export const keys = command({
  help: HELP,
  actions: {
    create: change(
      '',
      { scopes: TEXT, account: TEXT, name: TEXT, expires: TEXT, priority: TEXT },
      (deps, { scopes, account, name, expires, priority }) => {
        if (scopes === undefined) throw new UsageError('create needs --scopes (see --help).')
        return createKey(deps, {
          scopes: scopes.split(/[\s,]+/).filter(Boolean),
          ...(account !== undefined && { account_id: account }),
          ...(name !== undefined && { name }),
          ...(expires !== undefined && { expires }),
          ...(priority !== undefined && { priority }),
        })
      },
    ),
    list: change('', { account: TEXT }, (deps, { account }) => allKeys(deps, account)),
    revoke: change('ID', {}, (deps, _options, id = '') => revokeKey(deps, id)),
    rotate: change('ID', {}, (deps, _options, id = '') => rotateKey(deps, id)),
  },
})
