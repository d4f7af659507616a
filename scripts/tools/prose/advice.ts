/** A text file, `path` from the root of the checkout. */
export interface TextFile {
  path: string
  text: string
}

/** A place that a writer may want to put better. */
export interface Advice {
  path: string
  /** From 1. */
  line: number
  rule: string
  /** The text in question. */
  text: string
}

/** Documents and messages do better without these: "beside" is "next to" or "compared with". */
export const AVOIDED =
  /\b(told|heard|anew|aloud|beside|for ever|as well as|in hand|give[ns]? back|tr(y|ied) again)\b/i
