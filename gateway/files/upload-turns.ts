/** Allows one upload at a time to each key, because otherwise one address could fill the disk. */

import { ServiceError } from '../../shared/errors.ts'

interface Turn {
  controller: AbortController
  ended: Promise<unknown>
}

export class UploadTurns {
  readonly #turns = new Map<string, Turn>()

  /**
   * Runs `upload` to `key` after aborting the one in progress, because a newer upload comes from a
   * client whose earlier one hangs.
   * @throws what `upload` throws, which is its signal's reason if a newer upload replaces it
   */
  async replacing<T>(key: string, upload: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let before = this.#turns.get(key); before; before = this.#turns.get(key)) {
      before.controller.abort(replacedError())
      await before.ended
    }
    return this.#run(key, upload)
  }

  /**
   * Runs `upload` to `key` unless one is in progress, because two engines with the same job must
   * not abort each other's uploads in turn.
   * @throws ServiceError `RATE_LIMITED` if one is; what `upload` throws
   */
  async alone<T>(key: string, upload: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#turns.has(key)) {
      throw new ServiceError('RATE_LIMITED', {
        message: 'Another upload to this address is under way; retry when it has ended.',
        retryAfterSeconds: 1,
      })
    }
    return this.#run(key, upload)
  }

  async #run<T>(key: string, upload: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const running = upload(controller.signal).finally(() => this.#turns.delete(key))
    this.#turns.set(key, { controller, ended: running.catch(() => undefined) })
    return running
  }
}

const replacedError = () =>
  new ServiceError('INVALID_REQUEST', {
    message: 'A newer upload to this address has taken the place of this one.',
  })
