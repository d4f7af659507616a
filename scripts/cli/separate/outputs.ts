/** Names and places the files written for a source, and finds those that already exist. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Client, OutputFile, Result } from '../../../clients/typescript/node.ts'
import { targetNames } from '../../../shared/messages.ts'
import { makeFolder } from '../../../shared/process/make-folder.ts'
import { outputLabels, outputName, substituteEnd } from '../../../shared/prompt-slug.ts'
import { UsageError } from '../command.ts'
import type { Arguments } from './arguments.ts'
import { isUrl, stemOf } from './sources.ts'

export interface Item {
  source: string
  folder: string
  stem: string
  extension: string
  /** The labels of the outputs if the model knows every prompt. */
  labels: readonly string[]
  /** Paths of the outputs with these labels. */
  expected: readonly string[]
}

/** @throws UsageError if two sources would write the same file */
export function itemsOf(args: Arguments): Item[] {
  const { targets, residual } = outputLabels(args.prompts)
  const items = args.sources.map((source) => {
    const folder = args.folder ?? (isUrl(source) ? '.' : dirname(source))
    const stem = stemOf(source)
    const { extension } = args
    const labels = [...targets, residual]
    const expected = labels.map((label) => join(folder, outputName(stem, label, extension)))
    return { source, folder, stem, extension, labels, expected }
  })
  const sources = new Map<string, string>()
  for (const { source, expected } of items) {
    const [first = ''] = expected
    const other = sources.get(first)
    if (other !== undefined) {
      throw new UsageError(`${other} and ${source} would both write ${first}`)
    }
    sources.set(first, source)
  }
  return items
}

/**
 * Files of `expected` that exist, including those named after what a target contains if the model
 * did not know its prompt.
 */
export function present({ folder, stem, extension, labels, expected }: Item): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return labels.flatMap((label, i) => {
    const end = `${substituteEnd(label)}.${extension}`
    const isSubstitute = (name: string) =>
      name.endsWith(end) &&
      labelsIn(name).some((text) => outputName(stem, text, extension) === name)
    const found = names.find((name) => name === basename(expected[i]!) || isSubstitute(name))
    return found === undefined ? [] : [join(folder, found)]
  })
}

/** Candidates for the label in a name; stem and label may both contain dots. */
const labelsIn = (name: string): string[] =>
  name
    .split('.')
    .slice(0, -1)
    .map((_, i, parts) => parts.slice(i).join('.'))

/** Whether the source was written after its outputs; unknown, and so false, for a URL. */
export function isNewer(source: string, outputs: readonly string[]): boolean {
  if (isUrl(source)) return false
  return statSync(source).mtimeMs > Math.min(...outputs.map((path) => statSync(path).mtimeMs))
}

/** Paths of the files written, by role: `target`, `target_video`, `residual`. */
export type Files = Record<string, string>

/**
 * Downloads all outputs, and moves them into place once all have arrived.
 * @throws Error naming a file that exists and must not be overwritten
 */
export async function save(
  client: Client,
  item: Item,
  { data }: Result,
  { prompts, extension, force }: Arguments,
): Promise<Files> {
  const { targets, residual } = outputLabels(
    prompts,
    prompts.map((_, i) => data.findings?.[i]?.holds),
  )
  const names = targetNames(prompts.length)
  const outputs = (data.targets ?? [data.target]).flatMap((file, i) =>
    partsOf(file, names[i]!, outputName(item.stem, targets[i]!, extension)),
  )
  const rest = partsOf(data.residual, 'residual', outputName(item.stem, residual, extension))
  const all = [...outputs, ...rest].map((part) => ({ ...part, path: join(item.folder, part.name) }))
  await makeFolder(item.folder)
  const staging = await mkdtemp(join(item.folder, '.winnow-'))
  try {
    for (const { url, name } of all) await client.download(url, join(staging, name))
    if (!force) assertFree(all.map(({ path }) => path).filter((path) => existsSync(path)))
    for (const { name, path } of all) await rename(join(staging, name), path)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  return Object.fromEntries(all.map(({ role, path }) => [role, path]))
}

/** @throws Error if any of `paths` exists */
export function assertFree(paths: readonly string[]): void {
  if (paths.length === 0) return
  const exist = paths.length === 1 ? 'exists' : 'exist'
  throw new Error(
    `${paths.join(', ')} already ${exist}: --force overwrites, --out FOLDER writes elsewhere`,
  )
}

/** The sound and, if there is one, the video. */
const partsOf = ({ url, video_url: video }: OutputFile, role: string, name: string) => [
  { role, url, name },
  ...(video === undefined
    ? []
    : [{ role: `${role}_video`, url: video, name: name.replace(/\.\w+$/, '.mp4') }]),
]
