/**
 * The checkpoint of a job: what it has separated so far, so that the next attempt continues there.
 *
 * It holds what the models returned for each chunk, and nothing derived from that. The next attempt
 * decodes the media, cuts and joins chunks, mixes and encodes as usual; it only does not ask a
 * model for what is stored. So its outputs are the same, bit for bit, and whatever is missing or
 * damaged is separated again.
 *
 * Each segment stands alone and replaces what was at its address. If two attempts run at once,
 * because the older one has lost its lease, they may replace each other's segments. That costs
 * chunks but never produces wrong ones.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { CHECKPOINT_MEDIA_SECONDS_MIN, SEGMENT_BYTES_MAX } from '../../../shared/checkpoint.ts'
import type { Clock } from '../../../shared/clock.ts'
import { ServiceError } from '../../../shared/errors.ts'
import { handOverName } from '../../../shared/hand-over.ts'
import type { Job } from '../../../shared/messages.ts'
import type { Logger } from '../../../shared/telemetry/log.ts'
import { version } from '../../../shared/version.ts'
import { RETRY_POLICY } from '../../media/retry.ts'
import { UploadRefusedError } from '../../media/write/upload.ts'
import { segmentMs, type Pace } from './checkpoint-pace.ts'
import {
  bytesOf,
  encodeEntry,
  listEntries,
  readEntry,
  SegmentWriter,
  type EntryBytes,
  type StoredEntry,
} from './checkpoint-segment.ts'
import type { JobMedia } from '../job-media.ts'
import type { ScratchRoom } from '../scratch-room.ts'

export interface CheckpointOptions {
  job: Pick<Job, 'request_id' | 'source' | 'shared_folder' | 'checkpoint_urls'>
  attemptId: string
  /** The job's folder, with the source at `sourcePath`. */
  folder: string
  sourcePath: string
  /** CHECKPOINT_SECONDS in milliseconds. */
  pauseMs: number
  signal: AbortSignal
  media: Pick<JobMedia, 'fetchSource' | 'uploadOutput'>
  scratch: Pick<ScratchRoom, 'isFull'>
  clock: Pick<Clock, 'elapsed'>
  log: Logger
}

/** The segment that is being filled. */
interface Segment {
  writer: SegmentWriter
  /** In elapsed time of the clock. */
  endsAt: number
}

/** How long a released job may take to send what it stored last. */
const FLUSH_MS_MAX = 10_000

export class Checkpoint {
  readonly #options: CheckpointOptions
  readonly #addresses: NonNullable<Job['checkpoint_urls']>
  /** Aborts uploads, which may outlast the job's signal. */
  readonly #stop = new AbortController()
  /** Entries of earlier attempts. */
  readonly #kept = new Map<string, StoredEntry>()
  /** How many entries of each of their files are still to be read. */
  readonly #unread = new Map<string, number>()
  #startedAt = 0
  #shareAtStart = 0
  /** The share of the job that is separated, from 0 to 1. */
  #share: () => number = () => 0
  /** Null until it is known. */
  #work: string | null = null
  /** How many addresses are in use. */
  #used = 0
  #segment: Segment | null = null
  #made = 0
  #sending: Promise<void> | null = null
  #isOver = false

  constructor(options: CheckpointOptions) {
    this.#options = options
    this.#addresses = options.job.checkpoint_urls ?? []
  }

  /**
   * Fetches what earlier attempts have stored, as far as it belongs to the same work. Any problem
   * with it costs what was stored, but not the job.
   * @param work everything besides the media that results depend on, serializable as JSON
   * @returns a sentence for the client's log if something is unusable
   * @throws the signal's reason
   */
  async open(work: object): Promise<string | undefined> {
    const identity = this.#identify(work)
    identity.catch(() => undefined) // awaited below, where it is needed
    let problem: string | undefined
    for (const [i, { get }] of this.#addresses.entries()) {
      if (await this.#options.scratch.isFull()) break
      const answer = await this.#fetch(get, i, identity)
      if (typeof answer === 'string') problem = answer
      if (!Array.isArray(answer)) break
      for (const entry of answer) {
        this.#kept.set(entry.name, entry)
        this.#unread.set(entry.path, answer.length)
      }
      this.#used = i + 1
    }
    identity.then(
      (work) => (this.#work = work),
      (error: unknown) => this.#end(error),
    )
    return problem
  }

  /**
   * Starts to store what is separated from now on.
   * @param share returns how much of the job is separated, from 0 to 1
   */
  begin(share: () => number): void {
    this.#startedAt = this.#options.clock.elapsed()
    this.#share = share
    this.#shareAtStart = share()
  }

  /** How many results of earlier attempts have names with this prefix. */
  count(prefix: string): number {
    return [...this.#kept.keys()].filter((name) => name.startsWith(prefix)).length
  }

  /**
   * Returns a result of an earlier attempt, or what `make` returns if there is none or it is
   * damaged. May be called once for each name.
   */
  async recall<T>(name: string, make: () => Promise<T>): Promise<T> {
    const entry = this.#kept.get(name)
    if (!entry) return make()
    const value = await readEntry(entry).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'the checkpoint could not be read')
    })
    await this.#noteRead(entry)
    if (value !== undefined) return value as T
    this.#options.log.warn({ name }, 'a result in the checkpoint is damaged: it is made again')
    this.#kept.delete(name)
    return make()
  }

  /**
   * Stores a copy of a result, unless it is already stored or there is currently no use or space
   * for it. Never rejects.
   */
  async keep(name: string, value: unknown): Promise<void> {
    if (this.#kept.has(name) || !this.#mayKeep()) return
    const entry = encodeEntry(name, value)
    await this.#segmentFor(entry)
      ?.writer.add(entry)
      .catch((error: unknown) => this.#end(error))
    if (!this.#segment || this.#sending || this.#isOver) return
    if (this.#options.clock.elapsed() >= this.#segment.endsAt) this.#send()
  }

  /**
   * Ends everything in progress and frees what is held. Never rejects.
   * @param flush whether to send what was stored last, if that is quick, because the job is
   *   released to another attempt
   */
  async close({ flush }: { flush: boolean }): Promise<void> {
    if (!flush) this.#stop.abort()
    const limit = setTimeout(() => this.#stop.abort(), FLUSH_MS_MAX)
    await this.#sending
    if (flush && this.#segment && !this.#isOver) this.#send()
    this.#isOver = true
    await Promise.all([this.#sending, this.#dropSegment()])
    clearTimeout(limit)
  }

  get #pace(): Pace {
    return {
      elapsedMs: this.#options.clock.elapsed() - this.#startedAt,
      shareBefore: this.#shareAtStart,
      share: this.#share(),
      pauseMs: this.#options.pauseMs,
      segmentsLeft: this.#addresses.length - this.#used - (this.#sending ? 1 : 0),
    }
  }

  #mayKeep(): boolean {
    if (this.#isOver || this.#work === null) return false
    return this.#segment !== null || segmentMs(this.#pace) !== null
  }

  /**
   * Returns the segment for `entry`; null while the previous one is being sent, or if the entry is
   * too large for any.
   */
  #segmentFor(entry: EntryBytes): Segment | null {
    const bytes = bytesOf(entry)
    if (this.#segment && this.#segment.writer.bytes + bytes > SEGMENT_BYTES_MAX) {
      if (this.#sending) return null
      this.#send()
    }
    if (this.#segment) return this.#segment
    const ms = segmentMs(this.#pace)
    if (ms === null || bytes > SEGMENT_BYTES_MAX / 2) return null
    const path = join(this.#options.folder, `checkpoint_${(this.#made += 1)}`)
    const endsAt = this.#options.clock.elapsed() + ms
    return (this.#segment = { writer: new SegmentWriter(path, this.#work!), endsAt })
  }

  /** Sends the segment. Only one is sent at a time, so a slow store limits how much is kept. */
  #send(): void {
    const { writer } = this.#segment!
    this.#segment = null
    this.#sending = this.#upload(writer)
      .catch((error: unknown) => {
        if (error instanceof UploadRefusedError) this.#isOver = true
        if (this.#stop.signal.aborted) return
        this.#options.log.warn({ err: error }, 'a part of the checkpoint could not be stored')
      })
      .finally(() => (this.#sending = null))
  }

  async #upload(writer: SegmentWriter): Promise<void> {
    const { media, attemptId } = this.#options
    try {
      await writer.close()
      await media.uploadOutput({
        url: this.#addresses[this.#used]!.put,
        path: writer.path,
        contentType: 'application/octet-stream',
        attemptId,
        signal: this.#stop.signal,
        retryPolicy: RETRY_POLICY,
      })
      this.#used += 1
    } finally {
      await rm(writer.path, { force: true })
    }
  }

  /**
   * Fetches the segment at an address.
   * @returns its entries; a sentence if it is unusable; null if there is none
   * @throws the signal's reason
   */
  async #fetch(
    url: string,
    number: number,
    identity: Promise<string>,
  ): Promise<StoredEntry[] | string | null> {
    const { job, folder, signal, media, log } = this.#options
    const path = join(folder, `checkpoint_${number}_kept`)
    const folderName = handOverName(job.shared_folder, folder)
    try {
      await media.fetchSource({ url, path, bytesMax: SEGMENT_BYTES_MAX, signal, folderName })
      const entries = await listEntries(path, await identity)
      if (entries) return entries
      log.info('the checkpoint is of another version, model or medium, or damaged')
      return 'What an earlier attempt had separated does not fit this one, or is damaged.'
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ServiceError) return null // there is no such segment
      log.warn({ err: error }, 'the checkpoint could not be read')
      return 'What an earlier attempt had separated could not be read.'
    }
  }

  /** Hashes the work, including the media if that may have changed since an earlier attempt. */
  async #identify(work: object): Promise<string> {
    const { job, sourcePath, signal } = this.#options
    const media = createHash('sha256')
    if (job.source.kind === 'url') {
      await pipeline(createReadStream(sourcePath), media, { signal })
    }
    const all = { version, request: job.request_id, media: media.digest('hex'), work }
    return createHash('sha256').update(JSON.stringify(all)).digest('hex')
  }

  /** Removes the file of an earlier attempt once all of it has been read. */
  async #noteRead({ path }: StoredEntry): Promise<void> {
    const unread = this.#unread.get(path)! - 1
    this.#unread.set(path, unread)
    if (unread === 0) await rm(path, { force: true })
  }

  /** Never rejects. */
  async #dropSegment(): Promise<void> {
    const writer = this.#segment?.writer
    this.#segment = null
    if (writer) await Promise.allSettled([writer.close(), rm(writer.path, { force: true })])
  }

  /** Lets the job go on without a checkpoint. */
  #end(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#dropSegment()
    if (this.#options.signal.aborted) return
    this.#options.log.warn({ err: error }, 'nothing more is kept of what the job separates')
  }
}

/** @returns undefined if the job stores nothing, because its media is short or a setting says so */
export function createCheckpoint(
  { seconds, ...options }: Omit<CheckpointOptions, 'pauseMs'> & { seconds: number },
  { checkpointSeconds }: { checkpointSeconds: number | 'off' },
): Checkpoint | undefined {
  if (!options.job.checkpoint_urls || checkpointSeconds === 'off') return undefined
  if (seconds <= CHECKPOINT_MEDIA_SECONDS_MIN) return undefined
  return new Checkpoint({ ...options, pauseMs: 1_000 * checkpointSeconds })
}
