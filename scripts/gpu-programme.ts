/** `npm run gpu-programme -- --out DIR`: see gpu-programme/command.ts. */

import { gpuProgramme } from './gpu-programme/command.ts'

process.exit(await gpuProgramme(process.argv.slice(2), process))
