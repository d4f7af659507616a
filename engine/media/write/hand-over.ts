/** Hands complete outputs to a gateway on this host: it keeps the files, and no byte is sent. */

import { setImmediate } from 'node:timers/promises'
import { FILES_HEADER, writeFileNames } from '../../../shared/hand-over.ts'
import { ATTEMPT_HEADER } from '../../../shared/output-places.ts'
import { LONG_RETRY_POLICY, type RetryPolicy } from '../retry.ts'
import { send, type UploadAnswer } from './upload.ts'

export interface HandOverOptions {
  /** The job's `hand_over_url`. */
  url: string
  attemptId: string
  signal: AbortSignal
  retryPolicy?: RetryPolicy
}

/** Parts that are given in one turn of the event loop go in one call. */
export class HandOver {
  readonly #options: HandOverOptions
  #gathered = new Map<string, string>()
  #answer: Promise<UploadAnswer | null> | undefined

  constructor(options: HandOverOptions) {
    this.#options = options
  }

  /**
   * @param name of the file, from the shared folder
   * @returns null where the gateway cannot keep it: its bytes are to be sent
   * @throws UploadUnavailableError when the gateway does not answer
   */
  give(part: string, name: string): Promise<UploadAnswer | null> {
    this.#gathered.set(part, name)
    return (this.#answer ??= this.#send())
  }

  async #send(): Promise<UploadAnswer | null> {
    await setImmediate()
    const names = this.#gathered
    this.#gathered = new Map()
    this.#answer = undefined
    const { url, attemptId, signal, retryPolicy = LONG_RETRY_POLICY } = this.#options
    const headers = {
      [FILES_HEADER]: writeFileNames(names),
      [ATTEMPT_HEADER]: attemptId,
      'content-length': '0',
    }
    const answer = await send(url, { method: 'POST', headers, retryPolicy, signal })
    return answer.status === 404 || answer.status === 405 ? null : answer
  }
}
