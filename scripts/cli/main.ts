/** Runs the winnow command named by the first word; table.mjs lists them all. */

import { runMain } from './command.ts'
import { COMMANDS } from './table.mjs'

const [name = ''] = process.argv.splice(2, 1)
const row = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
if (!row) throw new Error(`There is no command "${name}".`)
await runMain(await row.load())
