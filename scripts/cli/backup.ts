/** `winnow backup FOLDER` and `winnow backup restore FOLDER`; see --help. */

import { backup } from './backup/command.ts'
import { runMain } from './command.ts'

await runMain(backup)
