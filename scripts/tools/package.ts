/** `winnow package`, `winnow package deb` and `winnow package image`; see --help. */

import { runMain } from '../cli/command.ts'
import { makePackage } from './package/command.ts'

await runMain(makePackage)
