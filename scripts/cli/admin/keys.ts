/** The commands of `npm run keys`. */

import { allKeys, createKey, revokeKey, rotateKey } from '../../../gateway/accounts/accounts.ts'
import { SCOPES } from '../../../gateway/accounts/auth.ts'
import { commandText } from '../command-name.ts'
import { command, TEXT, UsageError } from '../command.ts'
import { change, END_OF_HELP } from './change.ts'

const HELP = `Usage: ${commandText('keys', '<command> [--json]')}

  create --scopes A,B [--account ID] [--name TEXT] [--expires 30d] [--priority batch]
                 create a key and show it, once; without --account, for the account default. With
                 --priority batch, its requests let those of other keys go first
  list [--account ID]
                 all keys, or those of one account
  revoke ID      revoke a key
  rotate ID      replace the secret of a key; everything else stays the same

Scopes: ${SCOPES.join(', ')}.
Keys${END_OF_HELP}`

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
