/** Computes checksums of files of any size. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

const BLOCK_BYTES = 2 ** 20

/** Returns the hexadecimal SHA-256 of files, concatenated in order. */
export async function sha256Of(...files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) {
    await pipeline(createReadStream(file, { highWaterMark: BLOCK_BYTES }), hash, { end: false })
  }
  return hash.digest('hex')
}
