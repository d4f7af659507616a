/** `winnow reference`: writes docs/reference/cli.md from the descriptions of the commands. */

import { writeFileSync } from 'node:fs'
import { cliPage } from './reference/cli-page.ts'

writeFileSync('docs/reference/cli.md', cliPage())
