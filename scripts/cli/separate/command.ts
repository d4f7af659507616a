/** Runs `separate`, from the words of its command line to its exit code. */

import { exitCodeOf } from '../exit-code.ts'
import { HELP, readArguments } from './arguments.ts'
import { separatePiped } from './pipe.ts'
import { separateAll } from './separation.ts'
import { PIPE } from './sources.ts'
import type { World } from './world.ts'

/** Runs the command and resolves with its exit code. */
export const separate = (words: readonly string[], world: World): Promise<number> =>
  exitCodeOf(async () => {
    const args = readArguments(words, world.env)
    if (args === 'help') {
      world.stdout.write(HELP)
      return 0
    }
    return args.sources.includes(PIPE) ? separatePiped(args, world) : separateAll(args, world)
  }, world)
