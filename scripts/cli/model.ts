/** `npm run model`: open models, fetched and installed; see --help. */

import { model } from './model/command.ts'

process.exitCode = await model(process.argv.slice(2), process)
