/** Lists the sounds in media: `npm run winnow -- sounds <files or https URLs>`; see --help. */

import { runMain } from './command.ts'
import { sounds } from './sounds/command.ts'

await runMain(sounds)
