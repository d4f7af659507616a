/** Quotes words for a shell. */

/** Returns plain words unchanged, and others in quotes, such as `'my song.wav'`. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
