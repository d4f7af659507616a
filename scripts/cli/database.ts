/** `winnow database`: moves an installation to another database, or migrates one; see --help. */

import { runDatabaseTool } from './operator/database.ts'

process.exitCode = await runDatabaseTool(process.argv.slice(2), process)
