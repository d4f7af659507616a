/** Reads the words of the command line: files, folders and patterns, then prompts. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, parse } from 'node:path'
import { isMedia } from '../../../clients/typescript/content-type.ts'
import { isOwnOutput } from './own-outputs.ts'

/** Names standard input. */
export const PIPE = '-'

export const isUrl = (word: string): boolean => /^https?:\/\//i.test(word)

/** The name of a source without its extension, as people read it. */
export function stemOf(source: string): string {
  const path = isUrl(source) ? decoded(new URL(source).pathname) : source
  return parse(path).name || 'audio'
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // a percent sign that means itself
  }
}

export interface Words {
  /** Paths and URLs, each once. */
  sources: string[]
  /** Own outputs among the named files, which are not separated again. */
  leftOut: string[]
  prompts: string[]
  /** One word names one file. */
  isOne: boolean
}

/**
 * The leading words that name media, as files and URLs, and the rest, which are prompts. The first
 * word is always a source. Shells turn a pattern into words, so of several files own outputs are
 * left out, unless there is nothing else: then they are what is meant.
 */
export function splitWords(words: readonly string[]): Words {
  const [first, ...others] = words
  if (first === undefined) return { sources: [], leftOut: [], prompts: [], isOne: false }
  const end = others.findIndex((word) => !namesMedia(word))
  const named = [first, ...(end < 0 ? others : others.slice(0, end))]
  const all = [...new Set(named.flatMap(expand))]
  const own = all.length > 1 ? all.filter((path) => !isUrl(path) && isOwnOutput(path)) : []
  const leftOut = own.length < all.length ? own : []
  return {
    sources: all.filter((source) => !leftOut.includes(source)),
    leftOut,
    prompts: end < 0 ? [] : others.slice(end),
    isOne: named.length === 1 && all[0] === first,
  }
}

/** Returns whether a word names media that is there; a folder counts by its media. */
const namesMedia = (word: string): boolean =>
  isUrl(word) || existsSync(word) || (isPattern(word) && filesLike(word).length > 0)

const isPattern = (word: string): boolean => /[*?]/.test(basename(word)) && !isUrl(word)

/** A folder and a pattern stand for the media in them, in the order of their names. */
function expand(word: string): string[] {
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
    .filter((path) => isMedia(path) && statSync(path).isFile())

/** For shells that do not expand patterns, and quoted ones: `*` and `?` in the name of a file. */
function filesLike(pattern: string): string[] {
  const folder = dirname(pattern)
  if (!existsSync(folder)) return []
  const escaped = basename(pattern).replace(/[.+^${}()|[\]\\]/g, '\\$&')
  const name = new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`)
  return mediaIn(folder).filter((path) => name.test(basename(path)))
}
