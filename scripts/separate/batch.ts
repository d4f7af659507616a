/**
 * Separates many files, with one or several prompts each. An output gets its name when it is whole,
 * so a run that was interrupted goes on where it was: a file whose outputs are there is skipped.
 */

import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { contentTypeOf } from '../../clients/typescript/content-type.ts'
import {
  ApiError,
  createClient,
  UnreachableError,
  type Client,
  type OutputFile,
  type Result,
  type Status,
  type Submitted,
} from '../../clients/typescript/node.ts'
import { promptSlug } from '../../shared/prompt-slug.ts'
import { UsageError, type Arguments, type BatchWords } from './arguments.ts'
import { isUrl, stemOf } from './sources.ts'
import { describe, printLogs, secretLine, type Logs, type World } from './world.ts'

interface Batch {
  args: Arguments & BatchWords
  client: Client
  world: World
}

interface Item {
  source: string
  /** The target of each prompt. */
  targets: ReadonlyMap<string, string>
  /** What no target took. */
  rest: string
}

interface Counts {
  separated: number
  skipped: number
  failed: number
}

/**
 * Runs the batch and resolves with its exit code: 0, or 1 when files failed.
 * @throws UsageError; ApiError and UnreachableError when no file could be separated any more
 */
export async function separateMany(args: Arguments & BatchWords, world: World): Promise<number> {
  const stop = new AbortController()
  const signal = AbortSignal.any([world.signal, stop.signal])
  const batch = { args, client: createClient({ ...args, signal }), world: { ...world, signal } }
  const items = args.sources.map((source) => itemOf(source, args))
  assertDistinct(items)
  const waiting = [...items]
  const counts: Counts = { separated: 0, skipped: 0, failed: 0 }
  const startedAt = performance.now()
  const work = async () => {
    for (let item = waiting.shift(); item; item = waiting.shift()) await run(batch, item, counts)
  }
  let end: { error: unknown } | undefined
  await Promise.all(
    Array.from({ length: args.jobs }, () =>
      work().catch((error: unknown) => {
        end ??= { error }
        stop.abort() // the others end too, with their requests
      }),
    ),
  )
  report(batch, counts, items.length, (performance.now() - startedAt) / 1_000)
  if (end) throw end.error
  return counts.failed > 0 ? 1 : 0
}

/** The outputs of a source: beside it, or in the folder that was asked for. */
function itemOf(source: string, { folder, prompts, submission }: Arguments & BatchWords): Item {
  const to = folder ?? (isUrl(source) ? '.' : dirname(source))
  const stem = stemOf(source)
  const extension = submission.input.output_format ?? 'wav'
  const fileOf = (name: string) => join(to, `${stem}.${name}.${extension}`)
  const targets = new Map(prompts.map((prompt) => [prompt, fileOf(promptSlug(prompt))]))
  return { source, targets, rest: fileOf('rest') }
}

const outputsOf = ({ targets, rest }: Item): string[] => [...targets.values(), rest]

function assertDistinct(items: readonly Item[]): void {
  const sources = new Map<string, string>()
  for (const item of items) {
    for (const output of outputsOf(item)) {
      const other = sources.get(output)
      if (other !== undefined) {
        throw new UsageError(`${other} and ${item.source} would both write ${output}`)
      }
      sources.set(output, item.source)
    }
  }
}

/** @throws what the next file would meet too, and the signal's reason */
async function run(batch: Batch, item: Item, counts: Counts): Promise<void> {
  const { client, world } = batch
  const startedAt = performance.now()
  let logs: Logs = []
  try {
    const missing = outputsOf(item).filter((output) => !existsSync(output))
    if (missing.length === 0) {
      counts.skipped += 1
      return print(batch, item, { state: 'there', logs })
    }
    const submitted = await submit(batch, item)
    const last = await follow(batch, submitted)
    logs = last.logs ?? []
    if (last.error) throw new ApiError(last.error)
    await downloadAll(batch, item, await client.result(submitted))
    counts.separated += 1
    print(batch, item, { state: `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`, logs })
  } catch (error) {
    if (world.signal.aborted || endsAll(error)) throw error
    counts.failed += 1
    print(batch, item, { state: 'FAILED', logs, error })
  }
}

/** Whether every other file would fail in the same way. */
const endsAll = (error: unknown): boolean =>
  error instanceof UnreachableError ||
  (error instanceof ApiError && [401, 402, 403].includes(error.status ?? 0))

async function submit({ args, client, world }: Batch, item: Item): Promise<Submitted> {
  const { source } = item
  for (const output of outputsOf(item)) await mkdir(dirname(output), { recursive: true })
  const place = isUrl(source)
    ? { audio_url: source }
    : { file_id: await client.upload(source, contentTypeOf(source)) }
  const { prompt, ...options } = args.submission.input
  const asked = args.prompts.length === 1 ? { prompt } : { prompts: [...args.prompts] }
  const input = { ...options, ...asked, ...place }
  const submitted = await client.submit({ ...args.submission, input })
  const secret = submitted.webhook?.signing_secret
  if (secret) world.stderr.write(`${source}: ${secretLine(secret)}\n`)
  return submitted
}

/** The last status. Where it can't be had, as after an abort, the request is canceled. */
async function follow({ args, client }: Batch, submitted: Submitted): Promise<Status> {
  const { logs } = args
  try {
    let last: Status | undefined
    for await (last of client.follow(submitted, { logs })) void last
    return last ?? (await client.status(submitted, { logs }))
  } catch (error) {
    if (!(error instanceof ApiError)) await client.cancel(submitted).catch(() => {})
    throw error
  }
}

async function downloadAll({ client }: Batch, item: Item, { data }: Result): Promise<void> {
  for (const [i, path] of [...item.targets.values()].entries()) {
    await download(client, (data.targets ?? [data.target])[i]!, path)
  }
  await download(client, data.residual, item.rest)
}

/** The video first: by the sound, an output counts as whole. */
async function download(client: Client, file: OutputFile, path: string): Promise<void> {
  if (file.video_url !== undefined) {
    await client.download(file.video_url, path.replace(/\.\w+$/, '.mp4'))
  }
  await client.download(file.url, path)
}

/** What became of a file. */
interface Ending {
  state: string
  /** Of its request. */
  logs: Logs
  error?: unknown
}

function print({ args, world }: Batch, item: Item, { state, logs, error }: Ending): void {
  const problem = error === undefined ? undefined : describe(error)
  if (args.json) {
    const outcome = problem === undefined ? { files: outputsOf(item) } : { error: problem }
    const more = { ...outcome, ...(args.logs && { logs }) }
    world.stdout.write(`${JSON.stringify({ source: item.source, state, ...more })}\n`)
    return
  }
  if (problem !== undefined) world.stderr.write(`${item.source}: ${problem}\n`)
  else if (!args.quiet) world.stdout.write(`${item.source}: ${state}\n`)
  if (args.logs && (problem !== undefined || !args.quiet)) {
    printLogs(world, logs, `${item.source}: `)
  }
}

function report({ args, world }: Batch, counts: Counts, all: number, seconds: number): void {
  const { separated, skipped, failed } = counts
  const left = all - separated - skipped - failed
  const parts = [
    `${separated} separated`,
    ...(skipped > 0 ? [`${skipped} there already`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(left > 0 ? [`${left} not begun or not finished: the same command goes on`] : []),
  ]
  if (!args.quiet) {
    world.stderr.write(`${all} files in ${seconds.toFixed(1)} s: ${parts.join(', ')}\n`)
  }
}
