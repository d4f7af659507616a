/** `npm run model -- inspect <folder>`: what is in a model's folder; see --help. */

import { model } from './model/command.ts'

process.exitCode = await model(process.argv.slice(2), process)
