/** Downloads large files: resumes them, verifies them, and explains failures. */
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { withRetries } from '../media/retry.ts'
import { sha256Of } from '../../models/checkpoint/sha256.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'
import type { CatalogueFile } from './catalogue.ts'

export interface DownloadOptions {
  /** Called from time to time with the bytes received so far, and the total if it is known. */
  onProgress(bytes: number, total: number | undefined): void
  retryDelaysMs?: readonly number[]
  /** Ends an attempt that has received no data for this long. */
  idleMsMax?: number
  signal?: AbortSignal
}

const RETRY_DELAYS_MS = [1_000, 3_000, 10_000, 30_000]
const IDLE_MS_MAX = 60_000
/** Limits files of unknown size, so that a host cannot fill the disk. */
const BYTES_MAX = 8e9

/** A failure that no retry can change. */
class FinalError extends Error {}

/** Identifies the file that a partial download belongs to. */
interface PartialDownload {
  url: string
  /** The host's mark of this version. Without one (null) a download is not resumed. */
  etag: string | null
}

export interface DownloadedFile {
  path: string
  sha256: string
  bytes: number
  /** Whether a published checksum was compared. */
  verified: boolean
}

/**
 * Downloads a file to `path`, resuming an earlier call that was interrupted.
 * @throws Error with the reason: no such file, a web page instead of it, a wrong checksum (the file
 *   is then removed), too large, a full disk, or a connection that failed at every attempt
 */
export async function download(
  file: CatalogueFile,
  path: string,
  options: DownloadOptions,
): Promise<DownloadedFile> {
  await makeFolder(dirname(path))
  const { retryDelaysMs = RETRY_DELAYS_MS, signal = new AbortController().signal } = options
  const isTransient = (error: unknown) => !isFinal(error)
  try {
    const attempt = () => downloadOnce(file, path, options)
    return await withRetries(attempt, { retryDelaysMs }, signal, { isTransient })
  } catch (error) {
    throw new Error(`${file.url}: ${messageOf(error)}`, { cause: error })
  }
}

const isFinal = (error: unknown): boolean =>
  error instanceof FinalError || ['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS'].includes(codeOf(error))

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code ?? '')

/** Includes the cause, because fetch() itself only says "fetch failed". */
function messageOf(error: unknown): string {
  if (codeOf(error) === 'ENOSPC') return 'the disk is full; free some and run the command again'
  const { message, cause } = error as Error
  return cause instanceof Error && cause.message ? `${message}: ${cause.message}` : message
}

async function downloadOnce(
  file: CatalogueFile,
  path: string,
  options: DownloadOptions,
): Promise<DownloadedFile> {
  const partial = `${path}.part`
  const have = await bytesHeld(partial, file.url)
  const idle = new IdleTimer(options.idleMsMax ?? IDLE_MS_MAX, options.signal)
  try {
    const response = await fetch(file.url, { headers: rangeFrom(have), signal: idle.signal })
    if (response.status === 416) {
      await rm(partial) // the next attempt starts over
      throw new Error('the file is shorter than what was received before')
    }
    const { start, total } = checkResponse(response, have?.bytes ?? 0, file)
    await writeFile(`${partial}.json`, JSON.stringify(partialDownload(file.url, response)))
    await receive(response, partial, { start, total, file, idle, onProgress: options.onProgress })
  } finally {
    idle.stop()
  }
  return finish(file, partial, path)
}

/** How many bytes of the same file were received before. */
async function bytesHeld(
  partial: string,
  url: string,
): Promise<{ bytes: number; etag: string } | null> {
  try {
    const part: PartialDownload = JSON.parse(await readFile(`${partial}.json`, 'utf8'))
    const { size } = await stat(partial)
    return part.url === url && part.etag && size > 0 ? { bytes: size, etag: part.etag } : null
  } catch {
    return null // there is no usable part
  }
}

const rangeFrom = (have: { bytes: number; etag: string } | null): Record<string, string> =>
  have ? { range: `bytes=${have.bytes}-`, 'if-range': have.etag } : {}

/** A weak mark does not guarantee that the bytes are the same. */
function partialDownload(url: string, { headers }: Response): PartialDownload {
  const etag = headers.get('etag')
  return { url, etag: etag && !etag.startsWith('W/') ? etag : null }
}

/** Returns the offset of the response's bytes within the file, and the size of the file. */
function checkResponse(response: Response, have: number, file: CatalogueFile) {
  const { status, headers } = response
  if (status === 401 || status === 403) {
    throw new FinalError(`the host refuses it (status ${status}): it may require a login`)
  }
  if (status === 404 || status === 410) throw new FinalError('the file is no longer there')
  if (status !== 200 && status !== 206) throw new Error(`the host returned status ${status}`)
  if (headers.get('content-type')?.startsWith('text/html')) {
    throw new FinalError('the host returned a web page instead of the file')
  }
  const start = status === 206 ? have : 0
  const length = headers.get('content-length')
  const total = length === null ? file.bytes : start + Number(length)
  if (file.bytes !== undefined && total !== file.bytes) {
    throw new FinalError(`has ${total} bytes, not the ${file.bytes} that are published`)
  }
  if (total !== undefined && total > BYTES_MAX) throw new FinalError(`has ${total} bytes: too many`)
  return { start, total }
}

interface DownloadState {
  start: number
  total: number | undefined
  file: CatalogueFile
  idle: IdleTimer
  onProgress: DownloadOptions['onProgress']
}

async function receive(
  response: Response,
  partial: string,
  receiving: DownloadState,
): Promise<void> {
  const { start, total, idle, onProgress } = receiving
  const output = await open(partial, start > 0 ? 'r+' : 'w')
  let bytes = start
  try {
    for await (const block of response.body ?? []) {
      idle.touch()
      await output.write(block, 0, block.length, bytes)
      bytes += block.length
      if (bytes > (total ?? BYTES_MAX)) throw new FinalError('sends more than it announced')
      onProgress(bytes, total)
    }
    await output.sync()
  } finally {
    await output.close()
  }
  if (total !== undefined && bytes < total)
    throw new Error(`ended after ${bytes} of ${total} bytes`)
}

/** Verifies the received file and gives it its final name. */
async function finish(file: CatalogueFile, partial: string, path: string): Promise<DownloadedFile> {
  const { sha256, bytes } = await digest(partial)
  if (file.sha256 !== undefined && sha256 !== file.sha256) {
    await Promise.all([rm(partial), rm(`${partial}.json`, { force: true })])
    throw new FinalError(`its SHA-256 is ${sha256}, not ${file.sha256}; the file is removed`)
  }
  await rename(partial, path)
  await rm(`${partial}.json`, { force: true })
  return { path, sha256, bytes, verified: file.sha256 !== undefined }
}

export async function digest(path: string): Promise<{ sha256: string; bytes: number }> {
  return { sha256: await sha256Of(path), bytes: (await stat(path)).size }
}

/** Aborts when no data has arrived for a while, or together with another signal. */
class IdleTimer {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly signal: AbortSignal

  constructor(idleMsMax: number, signal?: AbortSignal) {
    const end = () => this.#controller.abort(new Error(`no data for ${idleMsMax / 1000} s`))
    this.#timer = setTimeout(end, idleMsMax)
    this.signal = AbortSignal.any([this.#controller.signal, ...(signal ? [signal] : [])])
  }

  touch(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
