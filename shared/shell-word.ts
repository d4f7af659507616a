/** Writes words as a shell reads them. */

/** As it is where that is plain; else in quotes, such as `'my song.wav'`. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
