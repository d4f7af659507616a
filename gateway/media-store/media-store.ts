/**
 * Where the bytes of media live, under keys of ours (`inputs/file_…`, `outputs/req_…/target`), and
 * the signed addresses at which they come and go. There are two homes, a folder of this machine and
 * a bucket of an S3-compatible store, and one suite of tests that both pass.
 */

import type { Bucket } from './s3.ts'
import type { LocalDisk } from './local-disk.ts'

export type MediaStore = LocalDisk | Bucket

/** Who is given an address: clients and engines may reach the store by different ways. */
export type Asker = 'client' | 'engine'

export interface Upload {
  key: string
  asker: Asker
  /** Epoch milliseconds after which the address is refused. */
  expiresAt: number
  /** Only such a body is taken; absent: any. */
  body?: { bytes: number; contentType: string }
}

export interface Download {
  key: string
  asker: Asker
  /** Epoch milliseconds after which the address is refused. */
  expiresAt: number
  contentType?: string
  fileName: string
}

export interface StoredMedia {
  key: string
  /** Epoch milliseconds. */
  writtenAt: number
}

/** What both homes do. */
export interface MediaHome {
  /** An address that takes a PUT of the media, without any other key. */
  uploadUrl(upload: Upload): Promise<string>
  /** An address that answers GET with the media, whole or by range, without any other key. */
  downloadUrl(download: Download): Promise<string>
  /** Deletes what is stored under `key`, and all that lies below it; nothing there is no error. */
  remove(key: string): Promise<void>
  /** All that is stored, in any order. What comes or goes meanwhile may be missed. */
  list(): AsyncIterable<StoredMedia>
}
