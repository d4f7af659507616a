/** Stores the parts of a job's live preview while the rest is still separated. */

import { rm } from 'node:fs/promises'
import type { Logger } from '../../../shared/telemetry/log.ts'
import { RETRY_POLICY } from '../../media/retry.ts'
import { UploadRefusedError } from '../../media/write/upload.ts'
import type { JobMedia } from '../job-media.ts'
import type { LivePart } from './live-parts.ts'

export interface LivePreviewOptions {
  /** Addresses of the parts, in order. */
  urls: readonly string[]
  attemptId: string
  media: Pick<JobMedia, 'uploadOutput'>
  log: Logger
  /**
   * Called once a part is stored.
   * @param seconds of the preview up to its end
   */
  onStored(parts: number, seconds: number): void
}

/** A failure here ends only the live preview, never the job. */
export class LivePreview {
  readonly #options: LivePreviewOptions
  readonly #stop = new AbortController()
  #stored = 0
  #latest: Promise<void> = Promise.resolve()

  constructor(options: LivePreviewOptions) {
    this.#options = options
  }

  /** Stores the next part after those before it, and removes its file. */
  readonly add = (part: LivePart): void => {
    this.#latest = this.#latest.then(() => this.#store(part))
  }

  /** Ends everything in progress: the outputs replace the live preview. Never rejects. */
  close(): Promise<void> {
    this.#stop.abort()
    return this.#latest
  }

  async #store({ path, seconds }: LivePart): Promise<void> {
    const { signal } = this.#stop
    const { urls, attemptId, media, log, onStored } = this.#options
    try {
      const url = urls[this.#stored]
      if (signal.aborted || url === undefined) return
      const contentType = 'application/octet-stream'
      const upload = { url, path, contentType, attemptId, signal, retryPolicy: RETRY_POLICY }
      await media.uploadOutput(upload)
      this.#stored += 1
      onStored(this.#stored, seconds)
    } catch (error) {
      const isExpected = signal.aborted || error instanceof UploadRefusedError
      if (!isExpected) log.warn({ err: error }, 'a part of the live preview could not be stored')
      this.#stop.abort()
    } finally {
      await rm(path, { force: true }).catch((error: unknown) =>
        log.warn({ err: error }, 'a part of the live preview could not be removed'),
      )
    }
  }
}
