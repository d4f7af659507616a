/** `winnow parity <folder>`: this port against a run of the reference; see --help. */

import { parity } from './parity/command.ts'

process.exitCode = await parity(process.argv.slice(2), process)
