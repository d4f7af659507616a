/** `winnow parity <folder>`: this port against a run of the reference; see --help. */

import { runMain } from '../../scripts/cli/command.ts'
import { parity } from '../support/parity/command.ts'

await runMain(parity)
