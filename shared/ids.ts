import { randomBytes } from 'node:crypto'

/**
 * Returns a new unguessable id such as `req_3q2e…`: the prefix and 128 random bits in hexadecimal.
 */
export const newId = (prefix: string): string => `${prefix}_${randomBytes(16).toString('hex')}`

export const ID_CHARACTERS_MAX = 64

export const ID_PATTERN = `^[\\w-]{1,${ID_CHARACTERS_MAX}}$`

const ID = RegExp(ID_PATTERN)

/** Whether a text has the form of an id; other texts are not repeated in messages. */
export const isId = (text: string): boolean => ID.test(text)
