/** Finds the longest words and names of a language in a prompt. */

import type { Language, WordKind } from './language.ts'
import { en } from './languages/en.ts'
import { plainText, tokensOf, type Token } from './tokens.ts'

/** A part of a prompt, and its meaning in a language. */
export interface Symbol {
  /** `word` if the language does not have it. */
  kind: WordKind | 'sound' | 'comma' | 'dash' | 'word'
  /** The English name of a sound. */
  sound?: string
  /** Its position in the text. */
  start: number
  end: number
  /** Whether it is a `remove` verb that acts like `after` when it follows a sound. */
  isAfterToo?: boolean
  /** Whether it is an article, an ignored word that people write before a name. */
  isArticle?: boolean
  /** Whether it exists in this language only and not in English. */
  isTelling: boolean
}

type Meaning = Omit<Symbol, 'start' | 'end'>

interface Node {
  next: Map<string, Node>
  meaning?: Meaning
}

/** A word of two kinds counts as the later kind; sounds come last. */
const KINDS: readonly WordKind[] = [
  ...([
    'preposition',
    'of',
    'with',
    'ignored',
    'article',
    'playing',
    'everything',
    'nothing',
  ] as const),
  ...([
    'turn',
    'off',
    'and',
    'keep',
    'only',
    'but',
    'except',
    'after',
    'apart',
    'remove',
    'without',
  ] as const),
  ...(['not', 'whole'] as const),
]

export class Lexicon {
  readonly language: Language
  readonly #root: Node = { next: new Map() }

  constructor(language: Language) {
    this.language = language
    if (language !== en) this.#addSounds(en, () => false)
    const english = new Set(entriesOf(language.englishToo ?? ''))
    const isTelling = (entry: string) => language !== en && !english.has(entry)
    for (const kind of KINDS) {
      for (const entry of entriesOf(language.words[kind] ?? '')) {
        const telling = isTelling(entry)
        const isArticle = kind === 'article'
        const meaning = isArticle ? ({ kind: 'ignored', isArticle } as const) : { kind }
        this.#add(entry, { ...meaning, isTelling: telling })
      }
    }
    this.#addSounds(language, isTelling)
  }

  #addSounds({ sounds }: Language, isTelling: (entry: string) => boolean): void {
    for (const [sound, names] of Object.entries(sounds)) {
      for (const entry of entriesOf(names)) {
        this.#add(entry, { kind: 'sound', sound, isTelling: isTelling(entry) })
      }
    }
  }

  #add(entry: string, meaning: Meaning): void {
    if (UMLAUT.test(entry)) this.#addOne(entry.replace(UMLAUTS, spelledOut), meaning)
    this.#addOne(entry, meaning)
  }

  #addOne(entry: string, meaning: Meaning): void {
    let node = this.#root
    for (const { word } of tokensOf(plainText(entry))) {
      const next = node.next.get(word) ?? { next: new Map() }
      node.next.set(word, next)
      node = next
    }
    const isAfterToo = meaning.kind === 'remove' && node.meaning?.kind === 'after'
    node.meaning = isAfterToo ? { ...meaning, isAfterToo } : meaning
  }

  /** Returns the symbols for the tokens of a text, in time linear in their number. */
  symbolsOf(tokens: readonly Token[]): Symbol[] {
    const symbols: Symbol[] = []
    for (let i = 0; i < tokens.length;) {
      const { length, meaning } = this.#longest(tokens, i)
      const [first, last] = [tokens[i]!, tokens[i + length - 1]!]
      symbols.push({ ...meaning, start: first.start, end: last.end })
      i += length
    }
    return symbols
  }

  #longest(tokens: readonly Token[], from: number): { length: number; meaning: Meaning } {
    const { word } = tokens[from]!
    let longest: { length: number; meaning: Meaning } = { length: 1, meaning: this.#alone(word) }
    let node: Node | undefined = this.#root
    for (let i = from; i < tokens.length; i += 1) {
      node = node.next.get(tokens[i]!.word)
      if (!node) break
      if (node.meaning) longest = { length: i + 1 - from, meaning: node.meaning }
    }
    return longest
  }

  /** Returns the meaning of a word that is not in the tables. */
  #alone(word: string): Meaning {
    if (word === ',') return { kind: 'comma', isTelling: false }
    if (word === '-') return { kind: 'without', isTelling: false }
    if (word === ' - ') return { kind: 'dash', isTelling: false }
    const less = word.endsWith('less') ? this.#root.next.get(word.slice(0, -4))?.meaning : undefined
    if (less?.kind === 'sound') return { ...less, kind: 'without' }
    return { kind: 'word', isTelling: false }
  }
}

const UMLAUT = /[äöü]/i
const UMLAUTS = /[äöü]/gi
/** "Flöte" is written "Floete" on a keyboard without umlauts. */
const spelledOut = (umlaut: string): string => {
  const [letter = ''] = umlaut.normalize('NFD')
  return `${letter}e`
}

const entriesOf = (list: string): string[] => list.split(/,\s*/).filter((entry) => entry !== '')
