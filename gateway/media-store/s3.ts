/**
 * Media in a bucket of an S3-compatible store, which clients and engines reach by presigned
 * addresses (Signature Version 4): its bytes never pass through the gateway.
 *
 * An address may be used until it expires, again and again, so what clients put stands aside under
 * `incoming/` until the gateway accepts it: from then on nothing they put there changes it.
 */

import {
  CopyObjectCommand, DeleteObjectCommand, GetObjectCommand, HeadBucketCommand, HeadObjectCommand,
  ListObjectsV2Command, NotFound, PutObjectCommand, S3Client, S3ServiceException,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import contentDisposition from 'content-disposition'
import type { Asker, MediaHome, StoredMedia } from './media-store.ts'

export interface Bucket extends MediaHome {
  kind: 's3'
  /** What a client has put at the upload address of `key`; undefined: nothing yet. */
  arrivalOf(key: string): Promise<Arrival | undefined>
  /** Puts an arrival in its place; false when the client has put another one meanwhile. */
  accept(arrival: Arrival): Promise<boolean>
  /** Deletes what a client has put at the upload address of `key`. */
  dropArrival(key: string): Promise<void>
  /** The keys of all that has arrived and not been dropped. */
  arrivals(): AsyncIterable<string>
}

/** A whole body that a client has put. */
export interface Arrival {
  key: string
  bytes: number
  /** Epoch milliseconds. */
  arrivedAt: number
  etag: string
}

export interface BucketOptions {
  bucket: string
  region: string
  /** The store's own address; absent: Amazon's. */
  endpoint?: string | undefined
  /** Where clients reach the store, if that is elsewhere. */
  publicEndpoint?: string | undefined
}

const INCOMING = 'incoming/'
const KEPT = ['inputs/', 'outputs/'] as const
/** Presigned addresses live no longer. */
const SECONDS_MAX = 7 * 86_400
/** The store answers only when a copy is done, of half a gigabyte at most. */
const TIMEOUTS = { connectionTimeout: 5_000, requestTimeout: 60_000 }

/**
 * Opens a bucket that is there, with the credentials that Amazon's SDK finds (`AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY`, a profile, or the role of the machine).
 * @throws Error saying why the bucket cannot be used
 */
export async function openBucket(
  { bucket: Bucket, region, endpoint, publicEndpoint = endpoint }: BucketOptions,
): Promise<Bucket> {
  const clientOf = (endpoint: string | undefined) => new S3Client({
    region,
    ...(endpoint && { endpoint, forcePathStyle: true }),
    // Else an address would demand the checksum of an empty body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    requestHandler: TIMEOUTS,
  })
  const clients: Record<Asker, S3Client> = {
    client: clientOf(publicEndpoint), engine: clientOf(endpoint),
  }
  const s3 = clients.engine
  await s3.send(new HeadBucketCommand({ Bucket })).catch((cause: unknown) => {
    const reason = cause instanceof S3ServiceException ? cause.name : (cause as Error).message
    throw new Error(`the bucket ${Bucket} cannot be used: ${reason}`, { cause })
  })

  async function* objectsBelow(prefix: string): AsyncGenerator<StoredMedia> {
    for (let token: string | undefined, more = true; more; more = token !== undefined) {
      const page = await s3.send(new ListObjectsV2Command({
        Bucket, Prefix: prefix, ContinuationToken: token,
      }))
      for (const { Key: key, LastModified: time } of page.Contents ?? []) {
        if (key && time) yield { key, writtenAt: time.getTime() }
      }
      token = page.NextContinuationToken
    }
  }
  const removeObject = (key: string) => s3.send(new DeleteObjectCommand({ Bucket, Key: key }))

  return {
    kind: 's3',
    uploadUrl({ key, asker, expiresAt, body }) {
      const put = new PutObjectCommand({
        Bucket,
        Key: asker === 'client' ? INCOMING + key : key,
        ...(body && { ContentLength: body.bytes, ContentType: body.contentType }),
      })
      return getSignedUrl(clients[asker], put, {
        expiresIn: secondsUntil(expiresAt),
        ...(body && { signableHeaders: new Set(['content-type']) }), // the length is without asking
      })
    },
    downloadUrl({ key, asker, expiresAt, contentType, fileName }) {
      const get = new GetObjectCommand({
        Bucket,
        Key: key,
        ResponseContentDisposition: contentDisposition(fileName),
        ...(contentType && { ResponseContentType: contentType }),
      })
      return getSignedUrl(clients[asker], get, { expiresIn: secondsUntil(expiresAt) })
    },
    async arrivalOf(key) {
      try {
        const head = await s3.send(new HeadObjectCommand({ Bucket, Key: INCOMING + key }))
        const { ContentLength: bytes, LastModified: time, ETag: etag } = head
        if (bytes === undefined || !time || !etag) throw new Error('the store does not tell all')
        return { key, bytes, arrivedAt: time.getTime(), etag }
      } catch (error) {
        if (error instanceof NotFound) return undefined
        throw error
      }
    },
    async accept({ key, etag }) {
      try {
        await s3.send(new CopyObjectCommand({
          Bucket, Key: key, CopySource: `${Bucket}/${INCOMING}${key}`, CopySourceIfMatch: etag,
        }))
        return true
      } catch (error) {
        if (error instanceof S3ServiceException && CHANGED.has(statusOf(error))) return false
        throw error
      }
    },
    async dropArrival(key) {
      await removeObject(INCOMING + key)
    },
    async *arrivals() {
      for await (const { key } of objectsBelow(INCOMING)) yield key.slice(INCOMING.length)
    },
    async remove(key) {
      for await (const { key: found } of objectsBelow(key)) {
        if (found === key || found.startsWith(`${key}/`)) await removeObject(found)
      }
    },
    async *list() {
      for (const prefix of KEPT) yield* objectsBelow(prefix)
    },
  }
}

/** Of a copy: what was to be copied is gone, or another. */
const CHANGED = new Set([404, 412])

const statusOf = (error: S3ServiceException): number => error.$metadata.httpStatusCode ?? 0

const secondsUntil = (time: number): number =>
  Math.min(SECONDS_MAX, Math.max(1, Math.floor((time - Date.now()) / 1_000)))
