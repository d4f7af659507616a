/** `npm run model`: open models, fetched and installed; see --help. */

import { runMain } from './command.ts'
import { model } from './model/command.ts'

await runMain(model)
