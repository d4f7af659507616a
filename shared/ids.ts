import { randomBytes } from 'node:crypto'

/** A new unguessable id such as `req_3q2e…`: the prefix and 128 random bits in hexadecimal. */
export const newId = (prefix: string): string => `${prefix}_${randomBytes(16).toString('hex')}`
