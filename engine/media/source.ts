/** Brings a job's source from the gateway's signed address to a local file. */

import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { request, type Dispatcher } from 'undici'
import { ServiceError } from '../../shared/errors.ts'
import { AwayError, isTemporaryStatus, PATIENCE, withRetries, type Patience } from './retry.ts'

export interface SourceOptions {
  url: string
  path: string
  bytesMax: number
  signal: AbortSignal
  patience?: Patience
}

/** The source could not be had now: another try, or another engine, may get it. */
export class SourceAwayError extends AwayError {}

/**
 * Writes what `url` answers to the file `path`, anew on each try; on failure no file stays.
 * @returns bytes written
 * @throws ServiceError MEDIA_FETCH_FAILED when it is not there, or larger than `bytesMax`
 * @throws SourceAwayError when it could not be had now
 */
export async function fetchSource(options: SourceOptions): Promise<number> {
  const { path, signal, patience = PATIENCE } = options
  try {
    return await withRetries(() => fetchOnce(options, patience), patience, signal)
  } catch (error) {
    await rm(path, { force: true })
    throw signal.aborted ? signal.reason : error
  }
}

async function fetchOnce(
  { url, path, bytesMax, signal }: SourceOptions, { silenceMsMax }: Patience,
): Promise<number> {
  const timeouts = { headersTimeout: silenceMsMax, bodyTimeout: silenceMsMax }
  const answer = await request(url, { signal, ...timeouts }).catch(throwAway)
  const { statusCode: status, body } = answer
  if (status !== 200) {
    await body.dump().catch(() => undefined) // what it says is of no use
    if (isTemporaryStatus(status)) throw new SourceAwayError(`the source answered ${status}`)
    throw fetchFailed(`The media could not be fetched: its server answered ${status}.`)
  }
  let bytes = 0
  async function* counted() {
    for await (const piece of pieces(body)) {
      bytes += piece.length
      if (bytes > bytesMax) throw fetchFailed(`The media is larger than ${bytesMax} bytes.`)
      yield piece
    }
  }
  await pipeline(counted, createWriteStream(path))
  return bytes
}

/** The body's pieces. An error in between is the network's; one of the disk passes by here. */
async function* pieces(body: Dispatcher.ResponseData['body']): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throwAway(error)
  }
}

function throwAway(cause: unknown): never {
  throw new SourceAwayError('the source could not be reached, or broke off', { cause })
}

const fetchFailed = (message: string) => new ServiceError('MEDIA_FETCH_FAILED', { message })
