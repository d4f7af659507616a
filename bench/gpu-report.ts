/** `winnow gpu-report --out DIR`: see gpu-report/command.ts. */

import { runMain } from '../scripts/cli/command.ts'
import { gpuReport } from './gpu-report/command.ts'

await runMain(gpuReport)
process.exit()
