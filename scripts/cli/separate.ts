/** The command-line client: `npm run separate -- <file or https URL> "<prompt>"`; see --help. */

import { runMain } from './command.ts'
import { separate } from './separate/command.ts'

await runMain(separate)
