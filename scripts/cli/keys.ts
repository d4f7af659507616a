/** `npm run keys`: the API keys of the gateway whose data is here; see --help. */

import { runMain } from './command.ts'
import { keys } from './operator/keys.ts'

await runMain(keys)
