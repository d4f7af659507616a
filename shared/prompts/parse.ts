/** Combines the symbols of a prompt into wanted and unwanted sounds. */

import type { Symbol } from './lexicon.ts'
import { phraseOf, type Sound } from './phrase.ts'

export interface SoundLists {
  wanted: Sound[]
  unwanted: Sound[]
}

/** `kept` sounds are named only to say that they are not unwanted. */
type Mode = keyof SoundLists | 'kept'

const CONTENT = new Set<Symbol['kind']>(['sound', 'word', 'whole'])
/** Words between these belong to one sound. */
const JOINING = new Set<Symbol['kind']>([
  ...(['comma', 'and', 'but', 'without', 'not', 'remove', 'except', 'keep', 'only'] as const),
  ...(['after', 'apart', 'dash'] as const),
])

/** Reads symbols once, from left to right. */
export class Parser {
  readonly #text: string
  readonly #symbols: readonly Symbol[]
  readonly #picks: boolean
  readonly #lists: SoundLists = { wanted: [], unwanted: [] }
  /** Sounds since the last word that says what to do with them. */
  #clause: Sound[] = []
  #phrase: Symbol[] = []
  /** Words that only say where, when or who; null if there are none. */
  #cut: Symbol[] | null = null
  #mode: Mode = 'wanted'
  /** Whether a verb of removal set the mode. */
  #isByVerb = false
  /** Whether "everything but" set the mode, which a verb at the end reverses. */
  #isByExcept = false
  /** The word that set the mode, if nothing has followed it. */
  #pending: 'not' | 'other' | null = null
  #isTurning = false
  /** Whether the clause is about everything, or about nothing. */
  #scope: 'everything' | 'nothing' | null = null

  /** @param picks whether to use the known sound of a phrase with unknown words */
  constructor(text: string, symbols: readonly Symbol[], picks: boolean) {
    this.#text = text
    this.#symbols = symbols
    this.#picks = picks
  }

  lists(): SoundLists {
    for (const [i, symbol] of this.#symbols.entries()) this.#take(symbol, i)
    this.#flush()
    return this.#lists
  }

  #take(symbol: Symbol, i: number): void {
    const { kind } = symbol
    if (CONTENT.has(kind)) return this.#push(symbol)
    switch (kind) {
      case 'ignored':
        return
      case 'everything':
        this.#scope = 'everything'
        return this.#push(symbol) // it may be a word of a name: "wedding song"
      case 'nothing':
        this.#flush()
        this.#scope = 'nothing'
        return
      case 'comma':
        return this.#comma(this.#next(i)?.kind === 'preposition')
      case 'dash':
        if (this.#scope && !this.#hasContent) return this.#turnTo('unwanted') // "all – drums"
        return this.#comma()
      case 'and':
        return this.#and()
      case 'with':
        return this.#with(i)
      case 'of':
        if (this.#hasContent || this.#scope) this.#push(symbol)
        return
      case 'preposition':
        if (this.#hasContent) this.#cut ??= []
        return
      case 'playing':
        if (!this.#cut && this.#next(i)?.kind === 'sound') this.#phrase = []
        return
      default:
        return this.#operate(symbol, i)
    }
  }

  /** Handles words that say what to do with sounds. */
  #operate(symbol: Symbol, i: number): void {
    switch (symbol.kind) {
      case 'without':
        return this.#without(symbol, i)
      case 'not':
        return this.#not(i)
      case 'remove':
        return this.#remove(symbol, i)
      case 'after':
        return this.#after()
      case 'apart':
        return this.#isByExcept ? undefined : this.#after()
      case 'turn':
        if (this.#hasContent) return this.#push(symbol)
        this.#isTurning = true
        return
      case 'off':
        return this.#off(symbol, i)
      case 'except':
        return this.#except()
      case 'but':
        if (this.#isOfAll) return this.#except()
        this.#flush()
        if (!this.#isByVerb) this.#keep('wanted') // "not the drums but the bass"
        return
      case 'keep':
        return this.#keep('kept')
      default:
        if (this.#mode === 'wanted') return this.#dropWords(i)
        return this.#keep('wanted')
    }
  }

  get #hasContent(): boolean {
    return this.#phrase.some(({ kind }) => CONTENT.has(kind))
  }

  /** Whether the phrase so far is about everything, or about nothing. */
  get #isOfAll(): boolean {
    const sounds = this.#phrase.filter(({ kind }) => CONTENT.has(kind))
    return sounds.length === 0 ? this.#scope !== null : sounds.every(({ sound }) => ALL.has(sound!))
  }

  #push(symbol: Symbol): void {
    this.#pending = null
    ;(this.#cut ?? this.#phrase).push(symbol)
  }

  /** Returns the next symbol that is not ignored. */
  #next(i: number): Symbol | undefined {
    for (let k = i + 1; k < this.#symbols.length && k <= i + LOOK_AHEAD; k += 1) {
      if (this.#symbols[k]!.kind !== 'ignored') return this.#symbols[k]
    }
    return undefined
  }

  /**
   * Separates sounds, although commas may also separate adjectives.
   * @param isAside whether what follows only says where, when or who: "the man, who sits in front
   *   of"
   */
  #comma(isAside = false): void {
    if (isAside && this.#hasContent) {
      this.#cut ??= []
      return
    }
    const isSound = this.#phrase.some(({ kind }) => kind === 'sound' || kind === 'whole')
    if (isSound || this.#cut || !this.#hasContent) this.#flush()
  }

  #and(): void {
    if (this.#cut?.some(({ kind }) => kind === 'sound')) return // "in front of piano and drums"
    this.#flush()
  }

  #with(i: number): void {
    if (!this.#hasContent || this.#cut) return
    let isSound = false
    for (let k = i + 1; k < this.#symbols.length && k <= i + LOOK_AHEAD; k += 1) {
      const { kind } = this.#symbols[k]!
      if (JOINING.has(kind)) break
      isSound ||= kind === 'sound'
    }
    if (isSound && this.#phrase.some(({ kind }) => kind === 'sound')) this.#flush()
    else this.#cut = []
  }

  #turnTo(mode: Mode, isByVerb = false): void {
    this.#flush()
    this.#mode = mode
    this.#isByVerb = isByVerb
    this.#isByExcept = false
    this.#clause = []
    this.#scope = null
    this.#isTurning = false
    this.#pending = 'other'
  }

  #without({ sound, start, end }: Symbol, i: number): void {
    if (sound !== undefined) {
      this.#flush() // "drumless"
      const typed = this.#text.slice(start, end)
      this.#lists.unwanted.push({ name: sound, typed, isKnown: true })
    } else if (this.#hasContent && this.#next(i) === undefined) {
      this.#after() // "bass-less"
    } else if (this.#pending === 'not') this.#turnTo('wanted')
    else if (this.#pending === null) this.#turnTo('unwanted')
  }

  #not(i: number): void {
    if (this.#pending === 'other' && !this.#isByVerb) return // "but not", "except no"
    if (this.#pending === 'other') return this.#turnTo('wanted') // "entferne nicht"
    if (this.#next(i) === undefined) {
      if (this.#isByVerb) return this.#takeBack()
      if (this.#mode === 'wanted' && this.#pending === null) return this.#after()
    }
    const isBack = this.#mode === 'unwanted' && this.#isByVerb && this.#pending === null
    if (isBack) return this.#keep('kept')
    this.#turnTo('unwanted')
    this.#pending = 'not'
  }

  /** Handles languages that put "not" last: "entferne das Schlagzeug nicht". */
  #takeBack(): void {
    this.#flush()
    const { wanted, unwanted } = this.#lists
    this.#lists.unwanted = unwanted.filter((sound) => !this.#clause.includes(sound))
    wanted.push(...this.#clause)
  }

  #remove(symbol: Symbol, i: number): void {
    const next = this.#next(i)
    const isVerb = !this.#hasContent && next !== undefined && !ENDING.has(next.kind)
    if (!isVerb && symbol.isAfterToo) return this.#after()
    if (!isVerb) return this.#push({ ...symbol, kind: 'word' })
    if (this.#pending === 'not') this.#turnTo('wanted')
    else if (this.#pending === null || !this.#isByVerb) this.#turnTo('unwanted', true)
  }

  /** Handles "drums removed"; before a sound, as in "removal of drums", it is like "without". */
  #after(): void {
    if (this.#pending === 'not') return this.#turnTo('wanted')
    if (!this.#hasContent && this.#clause.length === 0) return this.#turnTo('unwanted')
    if (this.#isByExcept) return this.#takeBack() // "alles außer dem Klavier entfernen"
    this.#flush()
    if (this.#mode !== 'wanted') return
    const { wanted, unwanted } = this.#lists
    this.#lists.wanted = wanted.filter((sound) => !this.#clause.includes(sound))
    unwanted.push(...this.#clause)
    this.#clause = []
    this.#isTurning = false
  }

  #off(symbol: Symbol, i: number): void {
    const next = this.#next(i)
    const isLast = next === undefined || next.kind === 'comma' || next.kind === 'and'
    const isSound = this.#phrase.at(-1)?.kind === 'sound' && !this.#cut
    if (this.#isTurning || (isLast && isSound)) {
      if (this.#hasContent || this.#clause.length > 0) return this.#after()
      return this.#turnTo('unwanted', true) // "take quickly out the rain"
    }
    if (this.#hasContent) {
      if (this.#mode === 'unwanted' || isSound) this.#cut ??= []
      else this.#push({ ...symbol, kind: 'word' })
    }
  }

  #except(): void {
    if (this.#scope === 'nothing') {
      this.#scope = null // "nothing but the drums"
      return
    }
    const isBack = this.#mode === 'unwanted' && this.#pending !== 'not'
    this.#turnTo(isBack ? 'wanted' : 'unwanted')
    this.#isByExcept = !isBack
  }

  /** Declares what follows as not unwanted, after something that is. */
  #keep(mode: 'wanted' | 'kept'): void {
    if (this.#pending !== null || this.#mode !== 'unwanted') return
    this.#flush()
    const isAll = this.#clause.every(({ name }) => ALL.has(name))
    this.#turnTo(isAll ? 'wanted' : mode)
    this.#pending = null
  }

  /**
   * Drops the words before "only", as in "I would love to have only the piano"; they are not a
   * sound.
   */
  #dropWords(i: number): void {
    const next = this.#next(i)
    if (!next || !CONTENT.has(next.kind)) return
    if (this.#phrase.every(({ kind }) => kind !== 'sound' && kind !== 'whole')) this.#phrase = []
  }

  /** Ends a sound. */
  #flush(): void {
    const sound = phraseOf(this.#text, this.#phrase, this.#picks)
    this.#phrase = []
    this.#cut = null
    if (!sound || this.#mode === 'kept') return
    this.#lists[this.#mode].push(sound)
    this.#clause.push(sound)
  }
}

/** Sounds with which people mean everything there is. */
const ALL = new Set(['other', 'instrumental', 'noise'])

/** How many symbols to look ahead, so that parsing stays linear. */
const LOOK_AHEAD = 16

/** After these, a verb has no object. */
const ENDING = new Set<Symbol['kind']>(['comma', 'after', 'preposition', 'off', 'of'])
