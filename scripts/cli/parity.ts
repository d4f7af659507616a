/** `winnow parity <folder>`: this port against a run of the reference; see --help. */

import { runMain } from './command.ts'
import { parity } from './parity/command.ts'

await runMain(parity)
