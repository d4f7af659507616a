/** `npm run keys`: the API keys of the gateway whose data is here; see --help. */

import { runTool } from './operator/command.ts'
import { keys } from './operator/keys.ts'

process.exitCode = await runTool(keys, process.argv.slice(2), process)
