/** Reads the words of one sound in a prompt. */

import type { Symbol } from './lexicon.ts'
import { isPartOf } from './sounds.ts'

/** A sound that a prompt names. */
export interface Sound {
  /** The name for models that answer text: in English if the tables have it, otherwise as typed. */
  name: string
  typed: string
  /** Whether the tables have it. */
  isKnown: boolean
}

/** "The voice of" a woman means the woman. */
const GENERAL = new Set(['voice', 'speech', 'vocals', 'singing', 'noise', 'music', 'effects'])

const isContent = ({ kind }: Symbol): boolean =>
  kind === 'sound' || kind === 'word' || kind === 'whole'
const isSound = ({ kind }: Symbol): boolean => kind === 'sound'

/**
 * @param symbols the words of one sound
 * @param picks whether a known sound among unknown words stands for all of them
 */
export function phraseOf(text: string, symbols: readonly Symbol[], picks: boolean): Sound | null {
  const owner = withoutOwner(symbols)
  const all = owner.filter(isContent)
  const known = new Set(all.filter(isSound).map(({ sound }) => sound!))
  const content = known.size > 1 ? all.filter(({ sound }) => sound !== 'noise') : all
  if (content.length === 0) return null
  known.clear()
  for (const { sound } of content) if (sound !== undefined) known.add(sound)
  const [first, last] = [content[0]!, content.at(-1)!]
  const typed = text.slice(first.start, last.end)
  const isOne = known.size === 1 && content.every(isSound)
  const name = isOne || picks ? specific([...known]) : undefined
  if (name !== undefined) return { name, typed, isKnown: true }
  const begin = Math.min(first.start, owner[0]!.start)
  const end = Math.max(last.end, owner.at(-1)!.end)
  return { name: text.slice(begin, end), typed: text.slice(begin, end), isKnown: false }
}

/** Chooses X or Y in "X of Y". */
function withoutOwner(symbols: readonly Symbol[]): readonly Symbol[] {
  const at = symbols.findIndex(({ kind }) => kind === 'of')
  if (at < 0) return symbols
  const [before, after] = [symbols.slice(0, at), symbols.slice(at + 1)]
  const [owned, owner] = [before.filter(isContent), after.filter(isContent)]
  if (owned.length === 0) return withoutOwner(after)
  if (owner.length === 0) return before
  const isGeneral = owned.every(({ sound }) => sound !== undefined && GENERAL.has(sound))
  if (isGeneral && owner.some(({ sound }) => sound !== undefined && sound !== 'noise'))
    return withoutOwner(after)
  return owned.length === 1 && isSound(owned[0]!) ? before : symbols
}

/** Returns the only name, or the one that is part of all others; undefined if there is none. */
const specific = (names: readonly string[]): string | undefined =>
  names.find((name) => names.every((other) => isPartOf(name, other)))
