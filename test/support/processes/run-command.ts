/** Runs one of our commands, and returns its output and exit code. */

import { Readable } from 'node:stream'
import type { CommandIo } from '../../../scripts/cli/command.ts'

export async function runCommand<Io extends CommandIo>(
  command: (argv: readonly string[], io: Io) => Promise<number>,
  argv: readonly string[],
  own?: Partial<Io>,
) {
  const out = { text: '', errors: '' }
  const code = await command(argv, {
    env: {},
    stdin: Readable.from([]),
    stdout: { write: (text: string) => void (out.text += text) },
    stderr: { write: (text: string) => void (out.errors += text) },
    signal: new AbortController().signal,
    ...own,
  } as Io)
  return { code, ...out }
}
