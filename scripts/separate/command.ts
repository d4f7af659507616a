/** What `separate` does, from the words of its command line to its exit code. */

import { mkdir } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import {
  ApiError,
  createClient,
  type Client,
  type OutputFile,
  type Result,
  type Status,
  type Submitted,
} from '../../clients/typescript/node.ts'
import { HELP, UsageError, readArguments, type Arguments } from './arguments.ts'
import { separateMany } from './batch.ts'
import { targetLabels } from '../../shared/prompt-slug.ts'
import { contentTypeOf } from '../../clients/typescript/content-type.ts'
import { createProgressView, type ProgressView } from './progress-view.ts'
import { stemOf } from './sources.ts'
import { describe, printLogs, secretLine, type Logs, type World } from './world.ts'

/** Runs the command and resolves with its exit code. */
export async function separate(words: readonly string[], world: World): Promise<number> {
  try {
    const args = readArguments(words, world.env)
    if (args === 'help') world.stdout.write(HELP)
    else if (args.isBatch) return await separateMany(args, world)
    else await separateOne(args, world)
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

async function separateOne(args: Arguments, world: World): Promise<void> {
  const client = createClient({ ...args, signal: world.signal })
  const view = createProgressView(world.stderr, args.quiet)
  const run: Run = { args, world, client, view }
  try {
    const outcome = await request(run)
    const files = await save(run, outcome.result)
    view.stop()
    report(run, outcome, files)
  } finally {
    view.stop()
  }
}

interface Run {
  args: Arguments
  world: World
  client: Client
  view: ProgressView
}

interface Outcome {
  result: Result
  logs: Logs
  /** From submit to completion. */
  elapsedSeconds: number
}

async function request(run: Run): Promise<Outcome> {
  const { args, world, client, view } = run
  const place = args.isUrl ? { audio_url: args.source } : { file_id: await upload(run) }
  const submittedAt = performance.now()
  const { input, ...rest } = args.submission
  const submitted = await client.submit({ input: { ...input, ...place }, ...rest })
  const secret = submitted.webhook?.signing_secret
  if (secret) view.note(secretLine(secret))
  const last = await follow(run, submitted)
  const elapsedSeconds = (performance.now() - submittedAt) / 1000
  const logs = last.logs ?? []
  if (last.status === 'FAILED') {
    view.stop()
    if (args.logs) printLogs(world, logs)
    if (last.error) throw new ApiError(last.error)
  }
  return { result: await client.result(submitted), logs, elapsedSeconds }
}

async function upload({ args, client, view }: Run): Promise<string> {
  view.show('uploading', 0)
  return client.upload(args.source, contentTypeOf(args.source), (part) =>
    view.show('uploading', part),
  )
}

/** Shows every status and resolves with the last. On Ctrl-C nobody needs the result any more. */
async function follow({ client, view, world }: Run, submitted: Submitted): Promise<Status> {
  let last: Status | undefined
  try {
    for await (last of client.follow(submitted, { logs: true })) {
      view.show(phaseOf(last), last.progress ?? 0, last.estimated_seconds_left)
    }
    return last ?? (await client.status(submitted, { logs: true }))
  } catch (error) {
    if (world.signal.aborted) await client.cancel(submitted).catch(() => {})
    throw error
  }
}

function phaseOf({ status, queue_position: position }: Status): string {
  if (status !== 'IN_QUEUE') return 'separating'
  return position === undefined ? 'waiting' : `waiting, number ${position}`
}

/** Writes every output file; resolves with their paths by their role. */
async function save({ args, client, view }: Run, { data }: Result): Promise<Files> {
  const folder = args.folder ?? (args.isUrl ? '.' : dirname(args.source))
  const stem = stemOf(args.source)
  await mkdir(folder, { recursive: true })
  const files: Files = {}
  const [target = ''] = targetLabels([args.submission.input.prompt ?? ''])
  const take = async (role: string, label: string, { url, video_url, file_name }: OutputFile) => {
    files[role] = join(folder, `${stem}-${label}${extname(file_name)}`)
    await client.download(url, files[role])
    if (video_url === undefined) return
    files[`${role}_video`] = join(folder, `${stem}-${label}.mp4`)
    await client.download(video_url, files[`${role}_video`] ?? '')
  }
  view.show('downloading', 0)
  await take('target', target, data.target)
  view.show('downloading', 0.5)
  await take('residual', 'residual', data.residual)
  return files
}

type Files = Record<string, string>

function report(run: Run, { result, logs, elapsedSeconds }: Outcome, files: Files): void {
  const { json, quiet, logs: showsLogs } = run.args
  const print = (line: string) => run.world.stdout.write(`${line}\n`)
  if (json) {
    const more = { files, elapsed_seconds: elapsedSeconds, ...(showsLogs && { logs }) }
    print(JSON.stringify({ ...result, ...more }))
  } else if (!quiet) {
    for (const path of Object.values(files)) print(path)
    print(speedOf(result.data.duration, elapsedSeconds))
    if (showsLogs) printLogs(run.world, logs)
  }
}

function speedOf(duration: number | undefined, elapsedSeconds: number): string {
  const elapsed = `${elapsedSeconds.toFixed(1)} s`
  if (duration === undefined) return `separated in ${elapsed}`
  const ratio = (duration / elapsedSeconds).toFixed(1)
  return `${duration.toFixed(1)} s of audio in ${elapsed}: ${ratio} times real time`
}
