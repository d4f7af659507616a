/** Writes the body of a response to a file. */

import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { HttpResponse } from './http-request.ts'

/**
 * How many bytes of files to read or write ahead: four times Node's default, so the process waits
 * for the disk a quarter as often.
 */
export const FILE_BYTES_AHEAD = 262_144

export interface SaveOptions {
  path: string
  bytesMax: number
  signal: AbortSignal
  /** Creates the error for a body beyond `bytesMax`. */
  tooLarge: () => Error
  /** Creates the error for a body that breaks off, from the network's error. */
  brokenOff: (cause: unknown) => Error
}

/**
 * Writes the body to the file `path`, as fast as the slower of network and disk. On failure no file
 * is left.
 * @returns the number of bytes written
 * @throws the errors of `tooLarge` and `brokenOff`; AbortError; an error of the disk
 */
export async function saveBody(
  { headers, body }: HttpResponse,
  options: SaveOptions,
): Promise<number> {
  const { path, bytesMax, signal, tooLarge, brokenOff } = options
  let bytes = 0
  async function* counted() {
    if (Number(headers['content-length']) > bytesMax) throw tooLarge()
    for await (const piece of pieces(body, brokenOff)) {
      bytes += piece.length
      if (bytes > bytesMax) throw tooLarge()
      yield piece
    }
  }
  try {
    const file = await open(path, 'w') // opened here, so that no stream creates it after `rm`
    await pipeline(counted, file.createWriteStream({ highWaterMark: FILE_BYTES_AHEAD }), { signal })
    return bytes
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    body.destroy()
  }
}

/** Yields the pieces of the body. Errors thrown here come from the network, not the disk. */
async function* pieces(
  body: AsyncIterable<Buffer>,
  brokenOff: SaveOptions['brokenOff'],
): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw brokenOff(error)
  }
}
