/** Texts that the database keeps but must not show: encrypted with a key that is not in it. */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `label` is what the text belongs to: what was sealed for one can't be opened for another. */
export function sealText(signingKey: string, label: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, keyFrom(signingKey), nonce).setAAD(Buffer.from(label))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** @throws Error when it was sealed with another key or label, or changed since */
export function openText(signingKey: string, label: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, keyFrom(signingKey), nonce, {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(label))
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const text = [decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]
  return Buffer.concat(text).toString('utf8')
}

const keyFrom = (signingKey: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', signingKey, '', 'winnow sealed text', 32))
