/** `npm run doctor`: what this host has and lacks to run Winnow; see --help. */

import { doctor } from './doctor/command.ts'

process.exitCode = await doctor(process.argv.slice(2), process)
