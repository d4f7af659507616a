/**
 * Separates files, with one or several prompts each. The outputs of a file appear all at once, and
 * files whose outputs exist are skipped, so an interrupted run continues where it was.
 */

import {
  ApiError,
  createClient,
  type Client,
  type Status,
  type Submitted,
} from '../../../clients/typescript/node.ts'
import { endsAll } from '../service-access.ts'
import type { Arguments } from './arguments.ts'
import { assertFree, isNewer, itemsOf, present, save, type Item } from './outputs.ts'
import { createManyFilesView, createProgressView, type ProgressView } from './progress-view.ts'
import { countText, Report } from './report.ts'
import type { SeparatedSource } from './separated.ts'
import { assertSeparator } from './separator.ts'
import { isUrl, NO_UTF8 } from './sources.ts'
import { vouchingLines } from './vouching.ts'
import { secretLine, type Logs, type SeparateIo } from './separate-io.ts'

export interface Run {
  args: Arguments
  client: Client
  io: SeparateIo
  /** Shows the progress of a file. */
  view: ProgressView
  report: Report
}

/**
 * Runs the command; resolves with its exit code: 0, 1 if files failed, or 3.
 * @throws UsageError; ApiError and UnreachableError if no file can be separated any more
 */
export async function separateAll(args: Arguments, io: SeparateIo): Promise<number> {
  const items = itemsOf(args)
  const stop = new AbortController()
  const signal = AbortSignal.any([io.signal, stop.signal])
  const client = createClient({ ...args, signal })
  await assertSeparator(client, args)
  const isSingleFile = items.length === 1
  const oneView = createProgressView(io.stderr, args.quiet || !isSingleFile)
  const manyView = createManyFilesView(io.stderr, args.quiet || isSingleFile, items.length)
  const viewOfFile = () => (isSingleFile ? oneView : manyView.file())
  const lines = { stdout: manyView.above(io.stdout), stderr: manyView.above(io.stderr) }
  const report = new Report(args, lines, items.length + args.unnameable.length)
  for (const path of args.unnameable) report.failed(path, new Error(NO_UTF8), [])
  if (args.leftOut.length > 0) {
    const files = countText(args.leftOut.length, 'output')
    viewOfFile().note(`left out ${files} of earlier runs: name one alone to separate it`)
  }
  const queue = [...items]
  const separateQueued = async () => {
    for (let item = queue.shift(); item; item = queue.shift()) {
      const run = { args, client, io: { ...io, signal }, report, view: viewOfFile() }
      await separateItem(run, item)
    }
  }
  let end: { error: unknown } | undefined
  await Promise.all(
    Array.from({ length: Math.min(args.jobs, items.length) }, () =>
      separateQueued().catch((error: unknown) => {
        end ??= { error }
        stop.abort() // the others end too, together with their requests
      }),
    ),
  )
  oneView.stop()
  manyView.stop()
  report.summary()
  if (end) throw end.error
  return report.exitCode
}

/** @throws whatever the next file would meet too; the signal's reason */
async function separateItem(run: Run, item: Item): Promise<void> {
  const { args, client, io, report, view } = run
  let logs: Logs = []
  try {
    const there = args.force ? [] : present(item)
    if (there.length === item.expected.length) {
      view.stop()
      return report.there(item, there, isNewer(item.source, there))
    }
    assertFree(there)
    const separated = await separateSource(run, item.source, (lines) => (logs = lines))
    view.show('downloading', 0)
    const files = await save(client, item, separated.result, args)
    view.stop()
    report.separated(item.source, { ...separated, files })
  } catch (error) {
    if (io.signal.aborted || endsAll(error)) throw error
    view.stop()
    report.failed(item.source, error, logs)
  }
}

/**
 * Separates the media at a path or URL; its outputs still have to be fetched.
 * @param onLogs receives the log once the request has ended, even if it failed
 * @throws ApiError, UnreachableError; the signal's reason
 */
export async function separateSource(
  run: Run,
  source: string,
  onLogs: (logs: Logs) => void,
): Promise<SeparatedSource> {
  const submitted = await submit(run, source)
  const submittedAt = performance.now()
  const { error, logs = [] } = await follow(run, submitted)
  onLogs(logs)
  if (error) throw new ApiError(error)
  const elapsedSeconds = (performance.now() - submittedAt) / 1_000
  const result = await run.client.result(submitted)
  const advice = await vouchingLines(run.client, run.args, source, result)
  return { result, logs, advice, elapsedSeconds }
}

async function submit({ args, client, view }: Run, source: string): Promise<Submitted> {
  const onProgress = (part: number) => view.show('uploading', part)
  if (!isUrl(source)) onProgress(0)
  const submitted = await (isUrl(source)
    ? submitUrl(args, client, source)
    : client.begin(source, args.prompts, args.submission, onProgress))
  const secret = submitted.webhook?.signing_secret
  if (secret) view.note(`${source}: ${secretLine(secret)}`)
  return submitted
}

function submitUrl(
  { prompts, submission }: Arguments,
  client: Client,
  url: string,
): Promise<Submitted> {
  const asked = prompts.length === 1 ? { prompt: prompts[0]! } : { prompts: [...prompts] }
  const input = { ...submission.input, ...asked, audio_url: url }
  return client.submit({ ...submission, input })
}

/** Returns the last status. If there is none, as after an abort, the request is canceled. */
async function follow({ args, client, view }: Run, submitted: Submitted): Promise<Status> {
  const { logs } = args
  try {
    let last: Status | undefined
    for await (last of client.follow(submitted, { logs })) {
      view.show(phaseOf(last), last.progress ?? 0, last.estimated_seconds_left)
    }
    return last ?? (await client.status(submitted, { logs }))
  } catch (error) {
    if (!(error instanceof ApiError)) await client.cancel(submitted).catch(() => {})
    throw error
  }
}

function phaseOf({ status, queue_position: position }: Status): string {
  if (status !== 'IN_QUEUE') return 'separating'
  const ahead = (position ?? 1) - 1
  return ahead === 0 ? 'waiting for a free engine' : `waiting for a free engine, ${ahead} ahead`
}
