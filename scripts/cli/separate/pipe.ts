/** Separates standard input and writes the sound to standard output. */

import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createClient } from '../../../clients/typescript/node.ts'
import { UsageError } from '../command.ts'
import type { Arguments } from './arguments.ts'
import { createProgressView } from './progress-view.ts'
import { Report } from './report.ts'
import { separateSource, type Run } from './separation.ts'
import { assertSeparator } from './separator.ts'
import type { Logs, SeparateIo } from './separate-io.ts'

const NAME = 'standard input'

/** Runs the command; resolves with its exit code: 0, 1 if it failed, or 3. */
export async function separatePiped(args: Arguments, io: SeparateIo): Promise<number> {
  assertPiped(args)
  if (io.stdin.isTTY) throw new UsageError('pipe a file in: winnow separate - "drums" < song.mp3')
  const folder = await mkdtemp(join(tmpdir(), 'winnow-'))
  const path = join(folder, 'audio')
  const view = createProgressView(io.stderr, args.quiet)
  const report = new Report({ ...args, quiet: true }, io, 1)
  const client = createClient({ ...args, signal: io.signal })
  const run: Run = { args, client, io, view, report }
  let logs: Logs = []
  try {
    await pipeline(io.stdin, createWriteStream(path), { signal: io.signal })
    if ((await stat(path)).size === 0) throw new UsageError('standard input is empty')
    await assertSeparator(client, args)
    const separated = await separateSource(run, path, (lines) => (logs = lines))
    const { target, residual } = separated.result.data
    const kept = args.task?.keeps === 'residual' ? residual : target
    await client.download(kept.url, path)
    await pipeline(createReadStream(path), io.stdout, { signal: io.signal, end: false })
    view.stop()
    report.separated(NAME, { ...separated, files: {} })
  } catch (error) {
    view.stop()
    if (io.signal.aborted || error instanceof UsageError) throw error
    report.failed(NAME, error, logs)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return report.exitCode
}

/** @throws UsageError if an option needs files */
function assertPiped({ sources, prompts, folder, json }: Arguments): void {
  const wrong =
    (sources.length > 1 && 'give - alone, or files') ||
    (prompts.length !== 1 && 'give one prompt with -: standard output holds one sound') ||
    (folder !== undefined && 'leave out --out with -: the sound goes to standard output') ||
    (json && 'leave out --json with -: the sound goes to standard output')
  if (wrong) throw new UsageError(wrong)
}
