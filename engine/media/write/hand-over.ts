/**
 * Hands complete outputs to a gateway on this host, which keeps the files, so that no bytes are
 * sent.
 */

import { setImmediate } from 'node:timers/promises'
import { FILES_HEADER, writeFileNames } from '../../../shared/hand-over.ts'
import { ATTEMPT_HEADER } from '../../../shared/output-places.ts'
import { LONG_RETRY_POLICY, type RetryPolicy } from '../retry.ts'
import { send, type UploadResponse } from './upload.ts'

export interface HandOverOptions {
  /** The job's `hand_over_url`. */
  url: string
  attemptId: string
  signal: AbortSignal
  retryPolicy?: RetryPolicy
}

/** Parts handed over in the same turn of the event loop share one call. */
export class HandOver {
  readonly #options: HandOverOptions
  #gathered = new Map<string, string>()
  #response: Promise<UploadResponse | null> | undefined

  constructor(options: HandOverOptions) {
    this.#options = options
  }

  /**
   * @param name of the file, relative to the shared folder
   * @returns null if the gateway cannot keep it, so that its bytes must be sent
   * @throws UploadUnavailableError if the gateway does not respond
   */
  give(part: string, name: string): Promise<UploadResponse | null> {
    this.#gathered.set(part, name)
    return (this.#response ??= this.#send())
  }

  async #send(): Promise<UploadResponse | null> {
    await setImmediate()
    const names = this.#gathered
    this.#gathered = new Map()
    this.#response = undefined
    const { url, attemptId, signal, retryPolicy = LONG_RETRY_POLICY } = this.#options
    const headers = {
      [FILES_HEADER]: writeFileNames(names),
      [ATTEMPT_HEADER]: attemptId,
      'content-length': '0',
    }
    const response = await send(url, { method: 'POST', headers, retryPolicy, signal })
    return response.status === 404 ? null : response
  }
}
