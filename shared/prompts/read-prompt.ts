/**
 * Reads a prompt: which sounds it asks for, or which ones to leave out. The reading is the same for
 * every model (docs/decisions/models.md), in time linear in the length of the prompt.
 */

import type { Language } from './language.ts'
import { de } from './languages/de.ts'
import { en } from './languages/en.ts'
import { es } from './languages/es.ts'
import { fr } from './languages/fr.ts'
import { it } from './languages/it.ts'
import { ja } from './languages/ja.ts'
import { nl } from './languages/nl.ts'
import { pt } from './languages/pt.ts'
import { ru } from './languages/ru.ts'
import { zh } from './languages/zh.ts'
import { Lexicon, type Symbol } from './lexicon.ts'
import { Parser, type SoundLists } from './parse.ts'
import type { Sound } from './phrase.ts'
import { COMPLEMENTS, isPartOf, isPartOfSong } from './sounds.ts'
import { plainText, tokensOf, type Token } from './tokens.ts'

/** A sound that a prompt names, and whether it should be removed. */
export interface PromptedSound {
  sound: string
  excluded: boolean
}

/** The target is the sum of the wanted sounds without the unwanted ones. */
export interface PromptReading {
  /** Empty means everything. */
  wanted: readonly Sound[]
  /** Parts of the wanted sounds. */
  unwanted: readonly Sound[]
  /**
   * All sounds that the prompt names, including those that are not part of the wanted ones and need
   * not be removed.
   */
  asked: readonly PromptedSound[]
  /** Whether the prompt is just the name of one sound. */
  isPlain: boolean
}

/** In order of preference, for prompts that fit several. */
const LANGUAGES: readonly Language[] = [en, de, fr, es, it, pt, nl, ru, zh, ja]

const lexicons = new Map<Language, Lexicon>()
function lexiconOf(language: Language): Lexicon {
  const lexicon = lexicons.get(language) ?? new Lexicon(language)
  lexicons.set(language, lexicon)
  return lexicon
}

/** Returns the languages in which prompts are understood. */
export const languageNames = (): string[] => LANGUAGES.map(({ name }) => name)

export function readPrompt(prompt: string): PromptReading {
  const text = plainText(prompt)
  const { symbols, language } = symbolsOf(tokensOf(text))
  const picks = language !== en && !UNSPACED.test(text)
  const reading = resolveLists(new Parser(text, symbols, picks).lists(), text)
  const isPlain =
    reading.wanted.length === 1 &&
    reading.asked.length === 1 &&
    symbols.every(({ kind, isArticle }) => NAMING.has(kind) || isArticle === true) &&
    symbols.every(({ sound }) => sound !== CLEAN)
  return { ...reading, isPlain }
}

/** Kinds of words within the name of a sound, such as "knock of a door". */
const NAMING = new Set<Symbol['kind']>(['sound', 'word', 'whole', 'of', 'everything', 'comma'])

/** Scripts without spaces, in which a part of an unknown word may look like a known one. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

interface LanguageReading {
  language: Language
  symbols: readonly Symbol[]
}

/**
 * Counts the words that a language does not have. If there is no sound, one is counted as missing.
 */
function unknownOf(read: LanguageReading): number {
  const words = read.symbols.filter(({ kind }) => kind === 'word').length
  return hasSound(read) ? words : Math.max(1, words)
}

const hasSound = ({ symbols }: LanguageReading): boolean =>
  symbols.some(({ kind, sound }) => kind === 'whole' || sound !== undefined)
const isTelling = ({ symbols }: LanguageReading): boolean =>
  symbols.some((symbol) => symbol.isTelling)

/** Reads the tokens in English, unless another language has more of the words. */
function symbolsOf(tokens: readonly Token[]): LanguageReading {
  const readingIn = (language: Language): LanguageReading => ({
    language,
    symbols: lexiconOf(language).symbolsOf(tokens),
  })
  let best = readingIn(en)
  let unknown = unknownOf(best)
  for (const language of LANGUAGES) {
    if (unknown === 0) break
    const other = readingIn(language)
    const count = unknownOf(other)
    const says = isTelling(other) || !hasSound(best)
    if (count < unknown && says) [best, unknown] = [other, count]
  }
  return best
}

/** @param text the sound that is wanted if there is no other */
function resolveLists(lists: SoundLists, text: string): Omit<PromptReading, 'isPlain'> {
  const plain = withoutComplements({
    wanted: distinct(lists.wanted),
    unwanted: distinct(lists.unwanted),
  })
  const asked = [
    ...plain.wanted.map(({ name }) => ({ sound: name, excluded: false })),
    ...plain.unwanted.map(({ name }) => ({ sound: name, excluded: true })),
  ]
  const { wanted, unwanted } = plain
  if (wanted.length + unwanted.length === 0) {
    const whole = { name: text, typed: text, isKnown: false }
    return { wanted: [whole], unwanted: [], asked: [{ sound: text, excluded: false }] }
  }
  const isOfSong = wanted.length === 1 && unwanted.length > 0 && wanted[0]!.name === 'music'
  if (isOfSong && unwanted.every(({ name }) => isPartOfSong(name))) {
    return { wanted: [], unwanted, asked: asked.filter(({ excluded }) => excluded) }
  }
  const isTakenAway = ({ name }: Sound) =>
    wanted.length === 0 || wanted.some((other) => isPartOf(name, other.name))
  return { wanted, unwanted: unwanted.filter(isTakenAway), asked }
}

/** Returns each sound once, without those that are part of another. */
const distinct = (sounds: readonly Sound[]): Sound[] =>
  sounds.filter(
    ({ name }, i) =>
      !sounds.some(
        (other, k) =>
          k !== i && isPartOf(name, other.name) && (k < i || !isPartOf(other.name, name)),
      ),
  )

/** "Instrumental" is all but the vocals, "noise" all but speech, "denoise" speech. */
function withoutComplements({ wanted, unwanted }: SoundLists): SoundLists {
  const lists = { wanted: wanted.map(asSpeech), unwanted: unwanted.map(asSpeech) }
  for (const [name, rest] of COMPLEMENTS) {
    const without = (sounds: readonly Sound[]) => sounds.filter((sound) => sound.name !== name)
    const named = (sounds: readonly Sound[]) => sounds.some((sound) => sound.name === name)
    const complement = { name: rest, typed: rest, isKnown: true }
    if (named(lists.wanted)) {
      const others = without(lists.wanted)
      if (others.some((sound) => isPartOf(sound.name, rest) || isPartOf(rest, sound.name))) continue
      lists.wanted = []
      lists.unwanted = distinct([...without(lists.unwanted), complement])
    } else if (named(lists.unwanted)) {
      lists.unwanted = without(lists.unwanted)
      if (lists.wanted.length === 0) lists.wanted = [complement]
    }
  }
  const isRest = ({ name }: Sound) => name === 'other'
  const others = (sounds: readonly Sound[]) => sounds.filter((sound) => !isRest(sound))
  if (lists.wanted.length > 0) lists.unwanted = others(lists.unwanted)
  if (lists.unwanted.length > 0) lists.wanted = others(lists.wanted)
  return lists
}

const CLEAN = 'clean speech'

/** Someone who asks for a cleaned recording wants to hear the speaker. */
const asSpeech = (sound: Sound): Sound =>
  sound.name === CLEAN ? { ...sound, name: 'speech', typed: 'speech' } : sound
