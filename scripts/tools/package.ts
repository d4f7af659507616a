/** `npm run package`, `npm run package -- deb` and `npm run package -- image`; see --help. */

import { runPackage } from './package/command.ts'

process.exitCode = await runPackage(process.argv.slice(2), process)
