/** `npm run gpu-programme -- --out DIR`: see gpu-report/command.ts. */

import { gpuProgramme } from './gpu-report/command.ts'

process.exit(await gpuProgramme(process.argv.slice(2), process))
