/** Keeps small secrets in the database so that the database alone does not tell them. */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts `text`.
 * @param key 32 bytes in base64url
 * @param owner the id of the row that keeps it; sealed text opens for no other
 */
export function seal(key: string, owner: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce)
    .setAAD(Buffer.from(owner))
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64url')
}

/** What was sealed. @throws Error when key, owner or text are not those of the sealing */
export function unseal(key: string, owner: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url')
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(-TAG_BYTES)]
  const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce, {
    authTagLength: TAG_BYTES,
  }).setAAD(Buffer.from(owner)).setAuthTag(tag)
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
  return text + decipher.final('utf8')
}
