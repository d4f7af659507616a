/** What `separate` does, from the words of its command line to its exit code. */

import { UsageError } from '../usage-error.ts'
import { HELP, readArguments } from './arguments.ts'
import { separateAll } from './separation.ts'
import { describe, type World } from './world.ts'

/** Runs the command and resolves with its exit code. */
export async function separate(words: readonly string[], world: World): Promise<number> {
  try {
    const args = readArguments(words, world.env)
    if (args !== 'help') return await separateAll(args, world)
    world.stdout.write(HELP)
    return 0
  } catch (error) {
    if (world.signal.aborted) {
      world.stderr.write('canceled\n')
      return 130
    }
    world.stderr.write(`${describe(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}
