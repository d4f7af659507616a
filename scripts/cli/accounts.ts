/** `npm run accounts`: the accounts of the gateway whose data is here; see --help. */

import { runTool } from './operator/command.ts'
import { accounts } from './operator/accounts.ts'

process.exitCode = await runTool(accounts, process.argv.slice(2), process)
