/** The tables of a language. */

/** The role of a word in a prompt; `docs/decisions/models.md` says how they are put together. */
export type WordKind =
  /** Before what is not wanted: "without". */
  | 'without'
  /** Turns round what follows: "don't remove". Else as `without`. */
  | 'not'
  /** Asks for something to be taken away, at the start of what it says: "mute the drums". */
  | 'remove'
  /** After what is not wanted: "drums removed". */
  | 'after'
  /** As `after`, and also closes an `except`: "除了狗以外". */
  | 'apart'
  /** As `after` at the end of a prompt or behind a verb of `turn`: "drums off". */
  | 'off'
  /** Verbs that remove together with `off`: "turn the drums off". */
  | 'turn'
  /** Turns round what came before: "everything except". */
  | 'except'
  /** As `except` after `everything`; else it joins. */
  | 'but'
  /** Before what shall stay, of all that there is: "remove the drums, keep the bass". */
  | 'keep'
  /** Before what is wanted, and nothing else. */
  | 'only'
  | 'everything'
  | 'nothing'
  | 'and'
  /** Joins two sounds; before anything else a `preposition`. */
  | 'with'
  | 'of'
  /** Before what only says where, when or who: "in front of". */
  | 'preposition'
  /** Before an instrument that somebody plays. */
  | 'playing'
  /** Says nothing about the sound: "please". */
  | 'ignored'
  | 'article'
  /** Names that contain words of the other kinds, which are kept whole. */
  | 'whole'

export interface Language {
  /** In English. */
  name: string
  /** Everything that people call a sound, by its English name; separated by commas. */
  sounds: Readonly<Record<string, string>>
  /** Words by what they do; separated by commas. */
  words: Readonly<Partial<Record<WordKind, string>>>
  /** Words that are English too, and say little about the language of a prompt. */
  englishToo?: string
}
