/** Tells the extension of a media file's name from its stem. */

/** With a letter and without spaces, because `Take 1.5` and `Dr. Meier` have none. */
const EXTENSION = /(?<=.)\.(?=\d*[a-z])[a-z\d]{1,5}$/is

/** Returns for example `.m4a`; nothing if there is none. */
export const extensionOf = (name: string): string => EXTENSION.exec(name)?.[0] ?? ''

export const stemOf = (name: string): string => name.replace(EXTENSION, '')
