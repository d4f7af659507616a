/**
 * Media in a bucket of an S3-compatible store, which clients and engines reach by presigned
 * addresses (Signature Version 4). Only a file that comes in one call with its prompt passes
 * through the gateway.
 *
 * An address can be used repeatedly until it expires, so clients upload to `incoming/`. The gateway
 * copies an accepted upload to its key, where later uploads do not change it.
 */

import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload as UploadInParts } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import contentDisposition from 'content-disposition'
import { OWNER_KEY } from './media-store.ts'
import { piecesOf } from './pieces.ts'
import type { Audience } from './signed-url.ts'
import type {
  PendingUpload,
  Bucket,
  Download,
  StageLimits,
  StoredMedia,
  Upload,
} from './media-store.ts'
import { DAY_SECONDS, MINUTE_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { StartError } from '../../shared/process/lifecycle.ts'

export interface BucketOptions {
  bucket: string
  region: string
  /** The address of the store; Amazon's if absent. */
  endpoint?: string | undefined
  /** The address of the store for clients, if it differs. */
  publicEndpoint?: string | undefined
}

const INCOMING = 'incoming/'
const KEPT = ['inputs/', 'outputs/'] as const
/** Presigned addresses cannot live longer than this. */
const SECONDS_MAX = 7 * DAY_SECONDS
/** Long enough for a copy of half a gigabyte, because the store responds only once it is done. */
const TIMEOUTS = {
  connectionTimeout: 5_000,
  requestTimeout: MINUTE_MS,
  throwOnRequestTimeout: true, // else it only warns
}
/** A hint to clients; nobody can know when the store will be back. */
const RETRY_AFTER_SECONDS = 10

/**
 * Opens an existing bucket with the credentials that Amazon's SDK finds (`AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY`, a profile, or the role of the machine).
 * @throws StartError saying why the bucket cannot be used
 */
export async function openBucket(options: BucketOptions): Promise<Bucket> {
  const bucket = new S3Bucket(options)
  await bucket.assertUsable()
  return bucket
}

class S3Bucket implements Bucket {
  readonly kind = 's3'
  readonly #bucket: string
  readonly #endpoint: string
  /** Clients that sign addresses, by audience. */
  readonly #clients: Record<Audience, S3Client>

  constructor({ bucket, region, endpoint, publicEndpoint = endpoint }: BucketOptions) {
    this.#bucket = bucket
    this.#endpoint = endpoint ?? `Amazon, ${region}`
    this.#clients = {
      client: connectClient(region, publicEndpoint),
      engine: connectClient(region, endpoint),
    }
  }

  get #s3(): S3Client {
    return this.#clients.engine
  }

  /** @throws StartError saying why the bucket cannot be used */
  async assertUsable(): Promise<void> {
    await this.#s3.send(new HeadBucketCommand({ Bucket: this.#bucket })).catch((cause: unknown) => {
      const error = (cause instanceof ServiceError ? cause.cause : cause) as Error
      const reason = error instanceof S3ServiceException ? error.name : error.message
      throw new StartError(
        `S3_BUCKET: the bucket ${this.#bucket} can't be used (${reason}). Check S3_BUCKET, ` +
          'S3_ENDPOINT, S3_REGION and the credentials.',
        { cause },
      )
    })
  }

  get place(): string {
    return `the bucket ${this.#bucket} at ${this.#endpoint}`
  }

  async owner(): Promise<string | undefined> {
    try {
      const { Body } = await this.#s3.send(
        new GetObjectCommand({ Bucket: this.#bucket, Key: OWNER_KEY }),
      )
      return (await Body?.transformToString())?.trim() || undefined
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined
      throw error
    }
  }

  async claim(installationId: string): Promise<void> {
    const put = { Bucket: this.#bucket, Key: OWNER_KEY, Body: `${installationId}\n` }
    try {
      await this.#s3.send(new PutObjectCommand({ ...put, IfNoneMatch: '*' }))
    } catch (error) {
      const status = error instanceof S3ServiceException ? statusOf(error) : 0
      if (status === NOT_IMPLEMENTED) await this.#s3.send(new PutObjectCommand(put))
      else if (status !== 409 && status !== 412) throw error // else another gateway was faster
    }
  }

  uploadUrl({ key, audience, expiresAt, body }: Upload): Promise<string> {
    const put = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: audience === 'client' ? INCOMING + key : key,
      ...(body && { ContentLength: body.bytes, ContentType: body.contentType }),
    })
    return getSignedUrl(this.#clients[audience], put, {
      expiresIn: secondsUntil(expiresAt),
      // the length is signed by default
      ...(body && { signableHeaders: new Set(['content-type']) }),
    })
  }

  downloadUrl({ key, audience, expiresAt, contentType, fileName }: Download): Promise<string> {
    const get = new GetObjectCommand({
      Bucket: this.#bucket,
      Key: key,
      ResponseContentDisposition: contentDisposition(fileName),
      ...(contentType && { ResponseContentType: contentType }),
    })
    return getSignedUrl(this.#clients[audience], get, { expiresIn: secondsUntil(expiresAt) })
  }

  async save(key: string, body: Readable, limits: StageLimits): Promise<void> {
    const upload = new UploadInParts({
      client: this.#s3,
      params: { Bucket: this.#bucket, Key: key, Body: Readable.from(piecesOf(body, limits)) },
      queueSize: 1, // one part of 5 MiB in memory
    })
    await upload.done()
  }

  async pendingUploadOf(key: string): Promise<PendingUpload | undefined> {
    try {
      const head = await this.#s3.send(
        new HeadObjectCommand({ Bucket: this.#bucket, Key: INCOMING + key }),
      )
      const { ContentLength: bytes, LastModified: time, ETag: etag } = head
      if (bytes === undefined || !time || !etag)
        throw new Error('the store does not state size, time and etag')
      return { key, bytes, arrivedAt: time.getTime(), etag }
    } catch (error) {
      if (error instanceof NotFound) return undefined
      throw error
    }
  }

  async accept({ key, etag }: PendingUpload): Promise<boolean> {
    try {
      await this.#s3.send(
        new CopyObjectCommand({
          Bucket: this.#bucket,
          Key: key,
          CopySource: `${this.#bucket}/${INCOMING}${key}`,
          CopySourceIfMatch: etag,
        }),
      )
      return true
    } catch (error) {
      if (error instanceof S3ServiceException && CHANGED.has(statusOf(error))) return false
      throw error
    }
  }

  async dropPendingUpload(key: string): Promise<void> {
    await this.#removeObject(INCOMING + key)
  }

  async *pendingUploads(): AsyncGenerator<string> {
    for await (const { key } of this.#objectsBelow(INCOMING)) yield key.slice(INCOMING.length)
  }

  async remove(key: string): Promise<void> {
    for await (const { key: objectKey } of this.#objectsBelow(key)) {
      if (objectKey === key || objectKey.startsWith(`${key}/`)) await this.#removeObject(objectKey)
    }
  }

  async *list(): AsyncGenerator<StoredMedia> {
    for (const prefix of KEPT) yield* this.#objectsBelow(prefix)
  }

  async *#objectsBelow(prefix: string): AsyncGenerator<StoredMedia> {
    for (let token: string | undefined, more = true; more; more = token !== undefined) {
      const page = await this.#s3.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: prefix,
          ContinuationToken: token,
        }),
      )
      for (const { Key: key, LastModified: time } of page.Contents ?? []) {
        if (key && time) yield { key, writtenAt: time.getTime() }
      }
      token = page.NextContinuationToken
    }
  }

  async #removeObject(key: string): Promise<void> {
    await this.#s3.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: key }))
  }
}

function connectClient(region: string, endpoint: string | undefined): S3Client {
  const client = new S3Client({
    region,
    ...(endpoint && { endpoint, forcePathStyle: true }),
    // Otherwise the address would require the checksum of an empty body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    requestHandler: TIMEOUTS,
  })
  client.middlewareStack.add(
    (next) => (args) =>
      next(args).catch((error: unknown) => {
        throw isRefusal(error) ? error : storeAway(error)
      }),
    { name: 'storeErrors', step: 'initialize', priority: 'high' },
  )
  return client
}

/** What stores without conditional writes answer to one. */
const NOT_IMPLEMENTED = 501

/** Whether the store has answered, and would answer the same again. */
const isRefusal = (error: unknown): boolean =>
  error instanceof S3ServiceException &&
  error.name !== 'RequestTimeout' && // it has status 400
  statusOf(error) !== 429 &&
  (statusOf(error) < 500 || statusOf(error) === NOT_IMPLEMENTED)

const storeAway = (cause: unknown) =>
  new ServiceError('QUEUE_UNAVAILABLE', {
    message: "The store for media can't be reached; retry later.",
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

/** Statuses of a copy whose source is gone or was replaced. */
const CHANGED = new Set([404, 412])

const statusOf = (error: S3ServiceException): number => error.$metadata.httpStatusCode ?? 0

const secondsUntil = (time: number): number =>
  Math.min(SECONDS_MAX, Math.max(1, Math.floor((time - Date.now()) / 1_000)))
