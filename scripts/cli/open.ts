/** Opens the page in a browser: `npm run winnow -- open`; see --help. */

import { runMain } from './command.ts'
import { open } from './open/command.ts'

await runMain(open)
