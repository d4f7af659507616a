/** `npm run accounts`: the accounts of the gateway whose data is here; see --help. */

import { runMain } from './command.ts'
import { accounts } from './operator/accounts.ts'

await runMain(accounts)
