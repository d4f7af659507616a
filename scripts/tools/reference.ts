/** `winnow reference`: writes the pages of docs/reference that are generated from the code. */

import { writeFileSync } from 'node:fs'
import { cliPage } from './reference/cli-page.ts'
import { settingsPage } from './reference/settings-page.ts'

writeFileSync('docs/reference/cli.md', await cliPage())
writeFileSync('docs/reference/settings.md', settingsPage())
