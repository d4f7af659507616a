/** `winnow parity <folder>`: compares this port with a run of the reference; see --help. */

import { runMain } from '../../scripts/cli/command.ts'
import { parity } from '../support/parity/command.ts'

await runMain(parity)
