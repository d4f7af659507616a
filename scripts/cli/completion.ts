/** `winnow completion SHELL`: a script that completes winnow's command line; see --help. */

import { completion } from './completion/command.ts'
import { runMain } from './command.ts'

await runMain(completion)
