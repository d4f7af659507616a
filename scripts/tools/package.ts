/** `winnow package` and `winnow package deb`; see --help. */

import { runMain } from '../cli/command.ts'
import { makePackage } from './package/command.ts'

await runMain(makePackage)
