/**
 * Decides by the words of a prompt which model answers it (docs/decisions/routing.md). A prompt
 * that names parts of a mix, and nothing else, goes to a model with those stems; any other prompt
 * goes to a model that answers text.
 */

import { ServiceError } from './errors.ts'

/** The parts of a mix by all their names, in prompts and as models call their stems. */
const PARTS = {
  vocals: [
    ...['vocals', 'vocal', 'vox', 'lead vocals', 'lead vocal', 'lead voice', 'main vocals'],
    ...['singing', 'singing voice', 'sung voice', 'singer', 'lead singer', 'singers voice'],
    ...['voice of song', 'voice of singer', 'voice in song', 'voice from song'],
    ...['acapella', 'acappella', 'a cappella', 'a capella', 'cappella', 'capella'],
  ],
  drums: [
    ...['drums', 'drum', 'drum kit', 'drumkit', 'drum set', 'drumset', 'drum beat', 'drumbeat'],
    ...['drumming', 'percussion'],
  ],
  bass: ['bass', 'bass guitar', 'bassline', 'bass line', 'electric bass', 'bass instrument'],
  guitar: ['guitar', 'guitars', 'acoustic guitar', 'electric guitar', 'electric guitars'],
  piano: ['piano', 'pianos', 'grand piano', 'electric piano', 'keys', 'keyboards'],
  other: ['other', 'others', 'everything else', 'all else', 'other instruments', 'rest'],
  /** The mixture without its vocals. */
  instrumental: [
    ...['instrumental', 'instrumentals', 'instrumental version', 'karaoke', 'karaoke version'],
    ...['backing track', 'backing music', 'accompaniment', 'instruments', 'all instruments'],
  ],
  dialogue: ['dialogue', 'dialogues', 'dialog', 'dialogs', 'speech', 'spoken words'],
  music: ['music', 'background music', 'film music', 'soundtrack'],
  effects: ['effects', 'sound effects', 'sfx', 'fx', 'foley'],
} as const

const SONG: readonly string[] = ['vocals', 'drums', 'bass', 'guitar', 'piano', 'other']

/** Remove what follows: "no vocals", "everything but the drums". */
const WITHOUT = [
  ...['without', 'no', 'minus', 'remove', 'mute', 'get rid of', 'take out', 'excluding'],
  ...['except', 'except for', 'everything but', 'all but', 'apart from'],
]

const AND = ['and', 'plus', ',']

/** Before "without" these say nothing; after it they begin what is wanted, which is not read. */
const ONLY = ['only', 'just', 'keep']

const IGNORED = [
  ...['the', 'a', 'an', 'this', 'my', 'of', 'from', 'in', 'on', 'please', 'can', 'you', 'i'],
  ...['want', 'give', 'get', 'me', 'isolate', 'isolated', 'extract', 'extracted', 'separate'],
  ...['track', 'tracks', 'stem', 'stems', 'part', 'parts', 'sound', 'sounds', 'audio'],
  ...['song', 'songs', 'mix', 'mixture', 'everything', 'all'],
]

/** Left out before names are looked for, so that "the voice of this song" is one. */
const ARTICLES = new Set(['the', 'this', 'my'])

/** As a separator: the words of each prompt decide. */
export const AUTO = 'auto'

/** A model, as far as the router needs to know it. */
export interface RoutedModel {
  name: string
  answers: 'text' | 'stems'
  /** As the model calls them; of a model that answers text, none. */
  stems: readonly string[]
}

/** The model, and its stems, that answer a prompt. */
export interface Route {
  model: string
  /** Stems whose sum is the target. A model for text has none. */
  stems: readonly string[]
  /** True if the target is the mixture without these stems. */
  isWithout: boolean
}

/**
 * Chooses one of `models`, which are in order of preference.
 * @param separator `auto`, or the name of the model that shall answer
 * @throws ServiceError `INVALID_PARAMETER` naming the models and stems that there are
 */
export function routePrompt(
  prompt: string,
  models: readonly RoutedModel[],
  separator: string = AUTO,
): Route {
  const isAuto = separator === AUTO
  const candidates = isAuto ? models : models.filter(({ name }) => name === separator)
  if (candidates.length === 0) {
    const what = isAuto ? 'There is no model' : `There is no model "${separator}"`
    throw refusal(what, models)
  }
  for (const { name, answers, stems } of candidates) {
    const target = answers === 'stems' ? stemsFor(prompt, stems) : null
    if (target) return { model: name, ...target }
  }
  const text = candidates.find(({ answers }) => answers === 'text')
  if (text) return { model: text.name, stems: [], isWithout: false }
  throw refusal(`"${prompt}" is not one of the stems that ${namesOf(candidates)} can give`, models)
}

const namesOf = (models: readonly RoutedModel[]): string =>
  models.map(({ name }) => name).join(', ')

function refusal(what: string, models: readonly RoutedModel[]): ServiceError {
  const each = models.map(({ name, answers, stems }) =>
    answers === 'text' ? `${name} (any prompt)` : `${name} (${stems.join(', ')})`,
  )
  const there = each.length === 0 ? '' : `; the models here are ${each.join('; ')}`
  const message = `${what}${there}.`
  return new ServiceError('INVALID_PARAMETER', { message, param: 'input.separator' })
}

type Target = Omit<Route, 'model'>

/** The stems of a model that answer the prompt; null: it asks for something else. */
function stemsFor(prompt: string, stems: readonly string[]): Target | null {
  const stemOf = new Map<string, string>()
  for (const stem of stems) {
    const part = partCalled(stem)
    if (part !== '' && !stemOf.has(part)) stemOf.set(part, stem)
  }
  const wanted = readPrompt(prompt, new Set(stemOf.keys()))
  if (!wanted) return null
  const { parts, isWithout } = wanted
  const given = [...stemOf].filter(([part]) => parts.has(part)).map(([, stem]) => stem)
  if (given.length === parts.size) return { stems: given, isWithout }
  const instrumental = instrumentalStem(stemOf)
  const isVocals = parts.size === 1 && parts.has('vocals')
  return isVocals && instrumental !== undefined
    ? { stems: [instrumental], isWithout: !isWithout }
    : null
}

/** Next to vocals alone, "other" is the instrumental. */
function instrumentalStem(stemOf: ReadonlyMap<string, string>): string | undefined {
  const isHalf = [...stemOf.keys()].every((part) => part === 'vocals' || part === 'other')
  return stemOf.get('instrumental') ?? (isHalf ? stemOf.get('other') : undefined)
}

interface Wanted {
  parts: ReadonlySet<string>
  /** True if the parts are taken away from the mixture. */
  isWithout: boolean
}

/** @param own names of stems, which are parts even where the table has no such part */
function readPrompt(prompt: string, own: ReadonlySet<string>): Wanted | null {
  const lists = readLists(symbolsOf(wordsOf(prompt), own))
  if (!lists) return null
  const { wanted, unwanted } = lists
  if (unwanted.size === 0) return resolved(wanted, false)
  const [first = ''] = wanted
  const isWhole =
    wanted.size === 0 ||
    (wanted.size === 1 && first === 'instrumental') ||
    (wanted.size === 1 && first === 'music' && [...unwanted].every((part) => SONG.includes(part)))
  if (isWhole) {
    return resolved(first === 'instrumental' ? unwanted.add('vocals') : unwanted, true)
  }
  // "drums, no vocals" are the drums.
  return [...wanted].some((part) => unwanted.has(part)) ? null : resolved(wanted, false)
}

/** The instrumental is what vocals leave. */
function resolved(parts: ReadonlySet<string>, isWithout: boolean): Wanted | null {
  if (!parts.has('instrumental')) return { parts, isWithout }
  return parts.size === 1 ? { parts: new Set(['vocals']), isWithout: !isWithout } : null
}

type Word = { part: string } | 'without' | 'and' | 'only' | 'ignored'

/** The names of parts, each with the symbol that it is in a prompt. */
const SYMBOLS: ReadonlyMap<string, Word> = new Map<string, Word>([
  ...IGNORED.map((name) => [name, 'ignored'] as const),
  ...AND.map((name) => [name, 'and'] as const),
  ...ONLY.map((name) => [name, 'only'] as const),
  ...WITHOUT.map((name) => [name, 'without'] as const),
  ...Object.entries(PARTS).flatMap(([part, names]) =>
    names.map((name) => [name, { part }] as const),
  ),
])

/** Longest name. */
const WORDS_MAX = Math.max(...[...SYMBOLS.keys()].map((name) => name.split(' ').length))

/** Words in lower case; what joins parts is a comma. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/['’]/g, '')
    .replace(/[,;/&+]/g, ' , ')
    .split(/[^\p{L}\p{M}\p{N},]+/u)
    .filter((word) => word !== '' && !ARTICLES.has(word))

/** The part that a model calls `stem`; its own name where the table has none. */
function partCalled(stem: string): string {
  const { parts, isWithout = false } = readPrompt(stem, new Set()) ?? {}
  const [part, another] = parts ?? []
  if (part === undefined || another !== undefined) return wordsOf(stem).join(' ')
  if (!isWithout) return part
  return part === 'vocals' ? 'instrumental' : `without ${part}`
}

/** The longest names first; null at the first word that says something else. */
function symbolsOf(words: readonly string[], own: ReadonlySet<string>): Word[] | null {
  const symbols: Word[] = []
  for (let i = 0; i < words.length;) {
    let size = Math.min(WORDS_MAX, words.length - i)
    let symbol: Word | undefined
    for (; size > 0; size -= 1) {
      const name = words.slice(i, i + size).join(' ')
      symbol = SYMBOLS.get(name) ?? (own.has(name) ? { part: name } : undefined)
      if (symbol !== undefined) break
    }
    if (symbol === undefined) return null
    if (symbol !== 'ignored') symbols.push(symbol)
    i += size
  }
  return symbols
}

/** Parts that are joined by "and", before and after a "without"; null: it is no such list. */
function readLists(
  symbols: readonly Word[] | null,
): { wanted: Set<string>; unwanted: Set<string> } | null {
  if (!symbols) return null
  const [wanted, unwanted] = [new Set<string>(), new Set<string>()]
  let list = wanted
  let isJoined = true
  for (const symbol of symbols) {
    if (symbol === 'without') {
      list = unwanted
      isJoined = true
    } else if (symbol === 'and') {
      isJoined = true
    } else if (symbol === 'only') {
      if (list === unwanted) return null
    } else if (typeof symbol === 'object') {
      if (!isJoined) return null
      list.add(symbol.part)
      isJoined = false
    }
  }
  const isOpen = list === unwanted && unwanted.size === 0
  return isOpen || wanted.size + unwanted.size === 0 ? null : { wanted, unwanted }
}
