/** A text file; `path` is relative to the root of the checkout. */
export interface TextFile {
  path: string
  text: string
}

/** A place that a writer may want to improve. */
export interface Advice {
  path: string
  /** From 1. */
  line: number
  rule: string
  /** The text that the advice is about. */
  text: string
}

/**
 * Words to avoid in documents and messages. Instead of "beside", for example, write "next to" or
 * "compared with".
 */
export const AVOIDED =
  /\b(told|heard|anew|aloud|beside|for ever|as well as|in hand|give[ns]? back|tr(y|ied) again)\b/i
