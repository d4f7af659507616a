/** One upload at a time to each place: else one address could fill the disk. */

import { ServiceError } from '../../shared/errors.ts'

interface Turn {
  controller: AbortController
  ended: Promise<unknown>
}

export class UploadTurns {
  readonly #turns = new Map<string, Turn>()

  /**
   * Runs `upload` to `key` after whatever upload to it is under way has been broken off: the newer
   * one is that of a client whose earlier one hangs.
   * @throws what `upload` throws; with its signal's reason when a newer one has come
   */
  async replacing<T>(key: string, upload: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let before = this.#turns.get(key); before; before = this.#turns.get(key)) {
      before.controller.abort(replaced())
      await before.ended
    }
    return this.#run(key, upload)
  }

  /**
   * Runs `upload` to `key` if none is under way: of two engines at one job neither is to break off
   * the other's again and again.
   * @throws ServiceError `RATE_LIMITED` when one is; what `upload` throws
   */
  async alone<T>(key: string, upload: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#turns.has(key)) {
      throw new ServiceError('RATE_LIMITED', {
        message: 'Another upload to this address is under way; try again when it has ended.',
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

const replaced = () =>
  new ServiceError('INVALID_REQUEST', {
    message: 'A newer upload to this address has taken the place of this one.',
  })
