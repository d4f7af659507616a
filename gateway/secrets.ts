/**
 * The keys that a gateway makes at its first start, in files that only its user may read, and the
 * encryption of small secrets in the database with one of them.
 */

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

interface Keys {
  /** Signs media addresses. */
  signingKey: string
  /** Encrypts the secrets of webhooks: 32 bytes in base64url. */
  encryptionKey: string
}

const KEY_BYTES = 32
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The gateway's own keys, made where there are none. */
export async function readKeys(dataFolder: string): Promise<Keys> {
  const path = join(dataFolder, 'secrets.json')
  const made = () => JSON.stringify({ signing_key: newKey(), sealing_key: newKey() })
  let keys = JSON.parse(await readOrMake(path, made)) as Record<string, unknown>
  if (keys.sealing_key === undefined) {
    // the file is older than webhooks
    keys = { ...keys, sealing_key: newKey() }
    await writeWhole(path, JSON.stringify(keys))
  }
  const { signing_key: signingKey, sealing_key: encryptionKey } = keys
  if (typeof signingKey !== 'string' || signingKey.length < KEY_BYTES) {
    throw new Error(`${path} holds no signing_key`)
  }
  const isSealingKey =
    typeof encryptionKey === 'string' &&
    Buffer.from(encryptionKey, 'base64url').length === KEY_BYTES
  if (!isSealingKey) throw new Error(`${path} holds no sealing_key`)
  return { signingKey, encryptionKey }
}

const newKey = (): string => randomBytes(KEY_BYTES).toString('base64url')

/** The text of the file; where there is none, it is written with what `make` returns. */
export async function readOrMake(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const text = make()
  await writeWhole(path, text)
  return text
}

/** Replaces the file atomically: a concurrent reader gets the old or the new text. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, `${text}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
}

/**
 * Encrypts `text`.
 * @param key 32 bytes in base64url
 * @param owner the id of the row that stores it; the text decrypts for no other
 */
export function encrypt(key: string, owner: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce).setAAD(
    Buffer.from(owner),
  )
  const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(parts).toString('base64url')
}

/** The decrypted text. @throws Error when key, owner or text differ from those of `encrypt` */
export function decrypt(key: string, owner: string, encrypted: string): string {
  const bytes = Buffer.from(encrypted, 'base64url')
  const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(-TAG_BYTES)]
  const decipher = createDecipheriv(CIPHER, Buffer.from(key, 'base64url'), nonce, {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(owner))
    .setAuthTag(tag)
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8')
  return text + decipher.final('utf8')
}
