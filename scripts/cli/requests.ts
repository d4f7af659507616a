/** Lists, deletes and shares requests: `npm run winnow -- requests list`; see --help. */

import { runMain } from './command.ts'
import { requests } from './requests/command.ts'

await runMain(requests)
