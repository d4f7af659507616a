/** `sudo winnow install-host --role …`: makes this host run Winnow with systemd; see --help. */

import { runMain } from './command.ts'
import { installHost } from './install-host/command.ts'

await runMain(installHost)
