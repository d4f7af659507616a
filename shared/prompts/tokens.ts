/** The words of a prompt with their positions. */

export interface Token {
  /** Normalised like the words in the tables. */
  word: string
  /** Its position in the text. */
  start: number
  end: number
}

/** Read character by character. */
const CHARACTER = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]`

/** Words, and the signs that join them. A minus sign or dash is a token, a hyphen is not. */
const TOKEN = new RegExp(
  [
    CHARACTER,
    String.raw`\p{Extended_Pictographic}`,
    String.raw`\bw\/o\b`,
    String.raw`(?!${CHARACTER})[\p{L}\p{N}](?:(?!${CHARACTER})[\p{L}\p{M}\p{N}])*`,
    String.raw`[,;/|&+、，；＋＆・]`,
    String.raw`(?<=^|\s)[-−–—](?=\p{L}|\s)`,
  ].join('|'),
  'giu',
)

const MINUS = /^[-−–—]$/u
const JOINING = /^[,;/|、，；・]$/u

/** Returns the text that is split into tokens: one form of each letter, without markup. */
export const plainText = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/&amp;/gi, '&')
    .replace(/<[^<>]*>/g, ' ')
    .trim()

/** Returns lower case, without accents in the scripts whose readers leave them out. */
const fold = (word: string): string =>
  word
    .toLowerCase()
    .normalize('NFD')
    .replace(/(?<=[\p{Script=Latin}\p{Script=Cyrillic}])\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/ß/g, 'ss')
    .replace(/œ/g, 'oe')
    .replace(/æ/g, 'ae')

/** @param next the following character */
function wordOf(token: string, next = ' '): string {
  if (JOINING.test(token)) return ','
  if (!MINUS.test(token)) return fold(token)
  return /\s/u.test(next) ? ' - ' : '-'
}

/** @param text as returned by `plainText` */
export const tokensOf = (text: string): Token[] =>
  [...text.matchAll(TOKEN)].map(({ 0: word, index }) => ({
    word: wordOf(word, text[index + word.length]),
    start: index,
    end: index + word.length,
  }))
