/** `winnow database`: moves an installation to another database, or migrates one; see --help. */

import { runMain } from './command.ts'
import { database } from './operator/database.ts'

await runMain(database)
