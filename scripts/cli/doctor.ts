/** `npm run doctor`: what this host has and lacks to run Winnow; see --help. */

import { runMain } from './command.ts'
import { doctor } from './doctor/command.ts'

await runMain(doctor)
