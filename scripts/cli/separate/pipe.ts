/** Separates what comes on standard input, and writes the sound to standard output. */

import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createClient } from '../../../clients/typescript/node.ts'
import { UsageError } from '../usage-error.ts'
import type { Arguments } from './arguments.ts'
import { createProgressView } from './progress-view.ts'
import { Report } from './report.ts'
import { separateSource, type Run } from './separation.ts'
import { assertSeparator } from './separator.ts'
import type { Logs, World } from './world.ts'

const NAME = 'standard input'

/** Runs the command and resolves with its exit code: 0, 1 when it failed, or 3. */
export async function separatePiped(args: Arguments, world: World): Promise<number> {
  if (world.stdin.isTTY)
    throw new UsageError('pipe a file in: winnow separate - "drums" < song.mp3')
  const folder = await mkdtemp(join(tmpdir(), 'winnow-'))
  const path = join(folder, 'audio')
  const view = createProgressView(world.stderr, args.quiet)
  const report = new Report({ ...args, quiet: true }, world, 1)
  const client = createClient({ ...args, signal: world.signal })
  const run: Run = { args, client, world, view, report }
  let logs: Logs = []
  try {
    await pipeline(world.stdin, createWriteStream(path), { signal: world.signal })
    if ((await stat(path)).size === 0) throw new UsageError('standard input is empty')
    await assertSeparator(client, args)
    const separated = await separateSource(run, path, (lines) => (logs = lines))
    const { body } = await client.open(separated.result.data.target.url)
    await pipeline(body!, world.stdout, { signal: world.signal, end: false })
    view.stop()
    report.separated(NAME, { ...separated, files: {} })
  } catch (error) {
    view.stop()
    if (world.signal.aborted || error instanceof UsageError) throw error
    report.failed(NAME, error, logs)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return report.exitCode
}
