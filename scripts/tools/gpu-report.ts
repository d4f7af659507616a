/** `winnow gpu-report --out DIR`: see gpu-report/command.ts. */

import { gpuReport } from './gpu-report/command.ts'

process.exit(await gpuReport(process.argv.slice(2), process))
