/** The tables of a language. */

/** The role of a word in a prompt; `docs/decisions/models.md` describes how roles combine. */
export type WordKind =
  /** Comes before unwanted sounds: "without". */
  | 'without'
  /** Reverses the following word: "don't remove". Otherwise like `without`. */
  | 'not'
  /** Asks to remove something, at the start of a clause: "mute the drums". */
  | 'remove'
  /** Comes after unwanted sounds: "drums removed". */
  | 'after'
  /** Like `after`, but also closes an `except`: "除了狗以外". */
  | 'apart'
  /** Like `after` at the end of a prompt or after a verb of `turn`: "drums off". */
  | 'off'
  /** Verbs that remove when combined with `off`: "turn the drums off". */
  | 'turn'
  /** Reverses what came before: "everything except". */
  | 'except'
  /** Like `except` after `everything`; otherwise it joins. */
  | 'but'
  /** Comes before what should stay: "remove the drums, keep the bass". */
  | 'keep'
  /** Comes before the only wanted sounds. */
  | 'only'
  | 'everything'
  | 'nothing'
  | 'and'
  /** Joins two sounds; in other places a `preposition`. */
  | 'with'
  | 'of'
  /** Comes before words that only say where, when or who: "in front of". */
  | 'preposition'
  /** Comes before an instrument that somebody plays. */
  | 'playing'
  /** Says nothing about the sound: "please". */
  | 'ignored'
  | 'article'
  /** Names that contain words of other kinds and are kept whole. */
  | 'whole'

export interface Language {
  /** Name of the language in English. */
  name: string
  /** All words for a sound, separated by commas and any white space, by its English name. */
  sounds: Readonly<Record<string, string>>
  /** Words by their role, separated by commas. */
  words: Readonly<Partial<Record<WordKind, string>>>
  /** Words that also exist in English, so they say little about the language of a prompt. */
  englishToo?: string
}
