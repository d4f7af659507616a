/**
 * Media in a local folder, which the gateway's routes under `/media` receive and serve. Staged
 * media, which has no key yet, is in a folder of its own.
 */

import { randomUUID } from 'node:crypto'
import {
  constants,
  copyFile,
  link,
  open,
  opendir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { send } from '@fastify/send'
import { HOUR_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { freeBytes as bytesFree } from '../../shared/free-bytes.ts'
import { COPY_NAME, isHandOverName } from '../../shared/hand-over.ts'
import { FILE_BYTES_AHEAD } from '../../shared/http/save-body.ts'
import { makeFolder } from '../../shared/process/make-folder.ts'
import type { Keys } from '../secrets.ts'
import {
  checkSignedQuery,
  signPath,
  type Audience,
  type Claims,
  type SignedMethod,
} from './signed-url.ts'
import { OWNER_KEY } from './media-store.ts'
import { piecesOf } from './pieces.ts'
import type {
  Download,
  LocalDisk,
  MediaReply,
  StagedMedia,
  StageLimits,
  StoredMedia,
  Upload,
} from './media-store.ts'

export interface LocalDiskOptions {
  folder: string
  signingKeys: Keys
  /** Base addresses of the media routes, by audience. */
  baseUrls: Readonly<Record<Audience, () => string>>
  /**
   * An upload that would leave less free is refused, because the database may be on the same disk.
   */
  freeBytesMin: number
  /** True if other gateways may be writing to the folder. */
  isShared: boolean
  /** SCRATCH_DIR of the engines on this host. */
  engineFolder?: string | undefined
  /** The free space of the disk that holds the folder. */
  freeBytes?: (folder: string) => Promise<number>
}

const KEY = /^[\w-]+(\/[\w-]+)+$/
const NEW = '.new'
/** The media folder is private to the gateway's user. */
const FILE_MODE = 0o600
/** A file that is being written changes more often than this. */
const SILENT_MS = HOUR_MS
/** What file systems without hard links answer. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
])
/** A hint to clients; nobody can know when there will be room. */
const RETRY_AFTER_SECONDS = 60
/** The free space is measured again after this much of one body. */
const ROOM_CHECK_BYTES = 16 * 2 ** 20

/** Opens the media folder, or creates it, and deletes incomplete uploads of an earlier process. */
export async function openLocalDisk(options: LocalDiskOptions): Promise<LocalDisk> {
  const newFolder = join(options.folder, NEW)
  await makeFolder(newFolder)
  await removeUnfinished(newFolder, options.isShared ? Date.now() - SILENT_MS : Infinity)
  return new MediaFolder(options)
}

/** Deletes uploads that were last written before a time in epoch milliseconds. */
async function removeUnfinished(newFolder: string, before: number): Promise<void> {
  for await (const path of filesBelow(newFolder)) {
    const { mtimeMs = Infinity } = (await stat(path).catch(ignoreMissing)) ?? {}
    if (mtimeMs < before) await rm(path, { force: true })
  }
}

class MediaFolder implements LocalDisk {
  readonly kind = 'local disk'
  readonly #options: LocalDiskOptions

  constructor(options: LocalDiskOptions) {
    this.#options = options
  }

  get place(): string {
    return `the folder ${resolve(this.#options.folder)}`
  }

  get engineFolder(): string | undefined {
    return this.#options.engineFolder
  }

  async owner(): Promise<string | undefined> {
    return (await readFile(this.#ownerPath, 'utf8').catch(ignoreMissing))?.trim() || undefined
  }

  async claim(installationId: string): Promise<void> {
    const newPath = join(this.#options.folder, NEW, randomUUID())
    await writeDurably(newPath, Readable.from([Buffer.from(`${installationId}\n`)]))
    try {
      // It appears whole, because another gateway may be reading it.
      await link(newPath, this.#ownerPath).catch((error: NodeJS.ErrnoException) => {
        if (!NO_LINKS.has(error.code)) throw error
        return rename(newPath, this.#ownerPath)
      })
      await syncFolder(this.#options.folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // another was faster
    } finally {
      await rm(newPath, { force: true })
    }
  }

  get #ownerPath(): string {
    return join(this.#options.folder, OWNER_KEY)
  }

  check(method: SignedMethod, key: string, query: Readonly<Record<string, unknown>>, now: number) {
    const { signingKeys } = this.#options
    const answers = signingKeys.map((signingKey) =>
      checkSignedQuery(signingKey ?? '', method, addressPath(key), query, now),
    )
    return answers.find((answer) => answer !== 'forged') ?? 'forged'
  }

  async uploadUrl({ key, audience, expiresAt, body }: Upload): Promise<string> {
    const size = body && { size: body.bytes }
    return this.#signed({ method: 'PUT', path: addressPath(key), expiresAt, audience, ...size })
  }

  async downloadUrl({ key, audience, expiresAt }: Download): Promise<string> {
    return this.#signed({ method: 'GET', path: addressPath(key), expiresAt, audience })
  }

  async stage(body: Readable, limits: StageLimits): Promise<StagedMedia> {
    const newPath = join(this.#options.folder, NEW, randomUUID())
    const staged = this.#staged(new Map([['', newPath]]))
    const counted = countedPieces(body, limits, (bytes) => this.#assertRoom(bytes))
    await writeDurably(newPath, counted).catch(async (error: unknown) => {
      await staged.discard()
      throw isDiskFull(error) ? noRoom(error) : error
    })
    return staged
  }

  async save(key: string, body: Readable, limits: StageLimits): Promise<void> {
    const staged = await this.stage(body, limits)
    try {
      await staged.place(key)
    } finally {
      await staged.discard()
    }
  }

  async adopt(names: ReadonlyMap<string, string>): Promise<StagedMedia | undefined> {
    const { engineFolder, folder } = this.#options
    if (engineFolder === undefined || ![...names.values()].every(isHandOverName)) return undefined
    const paths = new Map([...names.keys()].map((part) => [part, join(folder, NEW, randomUUID())]))
    const staged = this.#staged(paths)
    const adoptions = [...names].map(async ([part, name]) => {
      await link(join(engineFolder, name), paths.get(part)!)
      await makeDurable(paths.get(part)!)
    })
    const results = await Promise.allSettled(adoptions)
    if (results.every(({ status }) => status === 'fulfilled')) return staged
    await staged.discard()
    return undefined // missing, no file, another disk's or user's: the engine sends it
  }

  async handOver(key: string, folderName: string): Promise<boolean> {
    const { engineFolder } = this.#options
    if (engineFolder === undefined || !isHandOverName(folderName)) return false
    const copied = copyFile(
      this.#pathOf(key),
      join(engineFolder, folderName, COPY_NAME),
      constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE,
    )
    return copied.then(
      () => true,
      () => false, // the folder is not here or is full: the bytes are sent
    )
  }

  /**
   * @param newPaths paths of files that belong in one folder, by their names below the key; an
   *   empty name means the key itself
   */
  #staged(newPaths: ReadonlyMap<string, string>): StagedMedia {
    return {
      place: async (key) => {
        const moves = [...newPaths].map(([name, newPath]) => ({
          newPath,
          path: this.#pathOf(name === '' ? key : `${key}/${name}`),
        }))
        const folder = dirname(moves[0]!.path)
        await makeFolder(folder)
        for (const { newPath, path } of moves) await rename(newPath, path)
        await syncFolder(folder)
      },
      discard: async () => {
        // Renaming a file to another link of itself does nothing, and leaves it here.
        for (const newPath of newPaths.values()) await rm(newPath, { force: true })
      },
    }
  }

  async remove(key: string): Promise<void> {
    const path = this.#pathOf(key)
    await rm(path, { recursive: true, force: true })
    await syncFolder(dirname(path)).catch(ignoreMissing)
  }

  removeUnfinished(): Promise<void> {
    return removeUnfinished(join(this.#options.folder, NEW), Date.now() - SILENT_MS)
  }

  async *list(): AsyncGenerator<StoredMedia> {
    const { folder } = this.#options
    for await (const path of filesBelow(folder)) {
      const key = relative(folder, path)
      const info = KEY.test(key) ? await stat(path).catch(ignoreMissing) : undefined
      if (info) yield { key, writtenAt: info.mtimeMs }
    }
  }

  async reply(key: string, request: IncomingMessage): Promise<MediaReply> {
    this.#pathOf(key)
    const { type, statusCode, headers, stream } = await send(request, key, {
      root: this.#options.folder,
      cacheControl: false,
      contentType: false,
      index: false,
      highWaterMark: FILE_BYTES_AHEAD,
    })
    if (type === 'file') return { status: statusCode, headers, body: stream }
    if (statusCode === 404) throw new ServiceError('NOT_FOUND')
    const { 'Content-Range': range } = headers // status 416 states the length of the media
    return { status: statusCode, headers: range ? { 'Content-Range': range } : {}, body: empty() }
  }

  #signed(claims: Claims): string {
    const { baseUrls, signingKeys } = this.#options
    return baseUrls[claims.audience]() + signPath(signingKeys[0], claims)
  }

  async bytesLeft(): Promise<number> {
    const { folder, freeBytesMin, freeBytes = bytesFree } = this.#options
    return (await freeBytes(folder)) - freeBytesMin
  }

  async hasRoom(bytes = 0): Promise<boolean> {
    return (await this.bytesLeft()) >= bytes
  }

  async #assertRoom(bytes: number): Promise<void> {
    if (!(await this.hasRoom(bytes))) throw noRoom()
  }

  #pathOf(key: string): string {
    if (!KEY.test(key)) throw new Error(`not a media key: ${key}`)
    return join(this.#options.folder, key)
  }
}

const addressPath = (key: string): string => `/media/${key}`

/** Yields the pieces of `body`, as long as its limits and the disk allow. */
async function* countedPieces(
  body: Readable,
  limits: StageLimits,
  assertRoom: (bytes: number) => Promise<void>,
): AsyncGenerator<Buffer, void, void> {
  let [bytes, checkedBytes] = [0, 0]
  await assertRoom(limits.bytes ?? 0)
  for await (const piece of piecesOf(body, limits)) {
    bytes += piece.length
    if (bytes - checkedBytes > ROOM_CHECK_BYTES) {
      // others are writing to the disk, too
      checkedBytes = bytes
      await assertRoom(0)
    }
    yield piece
  }
}

async function writeDurably(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  // Opened first, because a stream that opens the file itself may do so after it was destroyed.
  const file = await open(path, 'wx', FILE_MODE)
  await pipeline(pieces, file.createWriteStream({ flush: true, highWaterMark: FILE_BYTES_AHEAD }))
}

/**
 * Makes a file private and durable. Fails for anything that is not a file, such as a link or a
 * pipe.
 */
async function makeDurable(path: string): Promise<void> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    await file.chmod(FILE_MODE)
    await file.utimes(new Date(), new Date()) // it is new here, however old it is
    await file.sync()
  } finally {
    await file.close()
  }
}

const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')

const noRoom = (cause?: unknown) =>
  new ServiceError('QUEUE_UNAVAILABLE', {
    message: 'The disk has no space for this media now; retry later.',
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

const empty = () => Readable.from([])

async function* filesBelow(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(ignoreMissing)
  if (!entries) return // it was deleted since its parent was read
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else yield path
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}

/** Makes renames and deletions in a folder durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
