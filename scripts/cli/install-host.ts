/** `sudo winnow install-host --role …`: makes this host run Winnow with systemd; see --help. */

import { installHost } from './install-host/command.ts'

process.exitCode = await installHost(process.argv.slice(2), process)
