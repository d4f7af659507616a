import { createClient } from '../../../clients/typescript/node.ts'
import { action, command } from '../command.ts'
import { describe } from '../service-access.ts'
import { HELP, OPTIONS, readArguments } from './command-line.ts'
import { separatePiped } from './pipe.ts'
import type { SeparateIo } from './separate-io.ts'
import { separateAll } from './separation.ts'
import { PIPE } from './sources.ts'
import { withPrompts } from './task.ts'

/** Separates files, URLs or standard input. */
export const separate = command({
  help: HELP,
  isCancelable: true,
  describe,
  actions: action({
    operands: ['[FILE…]', '[PROMPT…]'],
    options: OPTIONS,
    async run(values, operands, io: SeparateIo) {
      const read = readArguments(values, operands, io.env)
      const args = await withPrompts(read, createClient({ ...read, signal: io.signal }))
      return args.sources.includes(PIPE) ? separatePiped(args, io) : separateAll(args, io)
    },
  }),
})
