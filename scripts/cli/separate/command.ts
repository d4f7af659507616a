import { action, command } from '../command.ts'
import { describe } from '../service-access.ts'
import { HELP, OPTIONS, readArguments } from './arguments.ts'
import { separatePiped } from './pipe.ts'
import type { SeparateIo } from './separate-io.ts'
import { separateAll } from './separation.ts'
import { PIPE } from './sources.ts'

/** Separates files, URLs or what comes on standard input. */
export const separate = command({
  help: HELP,
  isCancelable: true,
  describe,
  actions: action({
    operands: ['[FILE…]', '[PROMPT…]'],
    options: OPTIONS,
    run(values, operands, io: SeparateIo) {
      const args = readArguments(values, operands, io.env)
      return args.sources.includes(PIPE) ? separatePiped(args, io) : separateAll(args, io)
    },
  }),
})
