/** `winnow package`, `winnow package deb` and `winnow package image`; see --help. */

import { runPackage } from './package/command.ts'

process.exitCode = await runPackage(process.argv.slice(2), process)
