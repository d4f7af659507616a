/** Splits the words of the command line into files, folders and patterns, followed by prompts. */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, parse } from 'node:path'
import { isMedia } from '../../../clients/typescript/content-type.ts'
import { isOwnOutput } from './own-outputs.ts'

export const NO_UTF8 = 'its name is not UTF-8: rename the file'

/** Stands for standard input. */
export const PIPE = '-'

export const isUrl = (word: string): boolean => /^https?:\/\//i.test(word)

/**
 * Returns the name of a source without its extension, for people. For a URL it ends with digits
 * that stand for the whole address, since many end alike, such as `…/2/audio.mp3` and `…?id=2`.
 */
export const stemOf = (source: string): string =>
  isUrl(source) ? stemOfUrl(new URL(source)) : stemOfPath(source)

const stemOfPath = (path: string): string => parse(path).name || 'audio'

/** Leaves room for the digits and the prompts in file names. */
const URL_NAME_CHARACTERS_MAX = 60
const URL_DIGITS = 8

function stemOfUrl(url: URL): string {
  const named = [...url.searchParams.values()].map(fileNameIn).find(isMedia)
  const name = stemOfPath(named ?? decoded(url.pathname)).slice(0, URL_NAME_CHARACTERS_MAX)
  url.hash = ''
  const digits = createHash('sha256').update(url.href).digest('hex').slice(0, URL_DIGITS)
  return `${name}-${digits}`
}

/** Finds a file name in the value of a query, perhaps as `attachment; filename="talk.mp3"`. */
const fileNameIn = (value: string): string =>
  basename(/filename="?([^";]+)/.exec(value)?.[1] ?? value)

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // a literal percent sign
  }
}

export interface ParsedOperands {
  /** Paths and URLs, without duplicates. */
  sources: string[]
  /** Outputs of earlier runs among the named files, which are not separated again. */
  leftOut: string[]
  /**
   * Files whose names are not valid UTF-8, so Node cannot open them. Shown with replacement
   * characters.
   */
  unnameable: string[]
  prompts: string[]
  /** Whether a single word names a single file. */
  isSingleFile: boolean
}

/**
 * Splits off the leading words that name media, as files and URLs; the rest are prompts. The first
 * word is always a source. When several files are given, our own earlier outputs are skipped (a
 * shell glob picks them up), unless nothing else is left.
 */
export function parseOperands(words: readonly string[]): ParsedOperands {
  const [first, ...others] = words
  const nothing = { sources: [], leftOut: [], unnameable: [], prompts: [], isSingleFile: false }
  if (first === undefined) return nothing
  const end = others.findIndex((word) => !namesMedia(word))
  const named = [first, ...(end < 0 ? others : others.slice(0, end))]
  const all = [...new Set(named.flatMap(sourcesOf))]
  const unnameable = all.filter(isUnnameable)
  const files = all.filter((source) => !unnameable.includes(source))
  const own = files.length > 1 ? files.filter((path) => !isUrl(path) && isOwnOutput(path)) : []
  const leftOut = own.length < files.length ? own : []
  return {
    sources: files.filter((source) => !leftOut.includes(source)),
    leftOut,
    unnameable,
    prompts: end < 0 ? [] : others.slice(end),
    isSingleFile: named.length === 1 && all[0] === first,
  }
}

/** Whether a word names existing media; for a folder, whether it contains any. */
export const namesMedia = (word: string): boolean =>
  isUrl(word) ||
  existsSync(word) ||
  (isMedia(word) && isUnnameable(word)) ||
  (isPattern(word) && filesLike(word).length > 0)

/** Node shows a name that is not UTF-8 with this character, and then cannot find the file. */
const isUnnameable = (path: string): boolean => path.includes('\uFFFD') && !existsSync(path)

const isPattern = (word: string): boolean => /[*?]/.test(basename(word)) && !isUrl(word)

/** A folder or a pattern stands for the media in it, in the order of their names. */
export function sourcesOf(word: string): string[] {
  if (isUrl(word)) return [word]
  if (existsSync(word)) {
    if (!statSync(word).isDirectory()) return [word]
    return mediaIn(word)
  }
  const like = isPattern(word) ? filesLike(word) : []
  return like.length > 0 ? like : [word]
}

const mediaIn = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
    .filter((path) => isMedia(path) && (isUnnameable(path) || isFile(path)))

/** Also false for a broken link. */
const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true

/**
 * For shells that do not expand patterns, and quoted patterns: `*` and `?` in the name of a file.
 */
function filesLike(pattern: string): string[] {
  const folder = dirname(pattern)
  if (!existsSync(folder)) return []
  const escaped = basename(pattern).replace(/[.+^${}()|[\]\\]/g, '\\$&')
  const name = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`)
  return mediaIn(folder).filter((path) => name.test(basename(path)))
}
