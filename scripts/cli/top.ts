/** `winnow top`: the fleet in a terminal; see --help. */

import { runMain } from './command.ts'
import { top } from './top/command.ts'

await runMain(top)
