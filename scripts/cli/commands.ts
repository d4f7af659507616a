/** The commands that every installation has, by name; `start` has settings instead of options. */

import { backup } from './backup/command.ts'
import { doctor } from './doctor/command.ts'
import { model } from './model/command.ts'
import { open } from './open/command.ts'
import { accounts } from './operator/accounts.ts'
import { database } from './operator/database.ts'
import { keys } from './operator/keys.ts'
import { requests } from './requests/command.ts'
import { separate } from './separate/command.ts'
import { sounds } from './sounds/command.ts'
import { top } from './top/command.ts'

export const COMMANDS = {
  separate,
  sounds,
  requests,
  open,
  keys,
  accounts,
  database,
  backup,
  doctor,
  top,
  model,
}
