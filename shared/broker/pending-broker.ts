/** A broker that does not answer yet, for a process that already serves. */

import type { Broker, Stop } from './interface.ts'

export class PendingBroker implements Broker {
  readonly #connecting: Promise<Broker>
  readonly #leaving: AbortController
  #broker: Broker | null = null

  /** @param leaving aborts `connecting` */
  constructor(connecting: Promise<Broker>, leaving: AbortController) {
    this.#connecting = connecting
    this.#leaving = leaving
    connecting.then(
      (broker) => {
        this.#broker = broker
      },
      () => undefined, // `closed` says why
    )
  }

  publishJob: Broker['publishJob'] = async (...job) => this.#connected().publishJob(...job)
  removeJob: Broker['removeJob'] = async (...job) => this.#connected().removeJob(...job)
  hasJob: Broker['hasJob'] = async (...job) => this.#connected().hasJob(...job)
  leaseJob: Broker['leaseJob'] = async (...wait) => this.#connected().leaseJob(...wait)
  publishEvent: Broker['publishEvent'] = async (event) => this.#connected().publishEvent(event)
  /** Progress may be lost. */
  publishProgress: Broker['publishProgress'] = (progress) => this.#broker?.publishProgress(progress)
  publishChange: Broker['publishChange'] = (requestId) => this.#broker?.publishChange(requestId)
  announceEngine: Broker['announceEngine'] = (engine) => this.#broker?.announceEngine(engine)

  followEvents: Broker['followEvents'] = async (handle) =>
    this.#follow((broker) => broker.followEvents(handle))
  followDeadLetters: Broker['followDeadLetters'] = async (handle) =>
    this.#follow((broker) => broker.followDeadLetters(handle))
  followProgress: Broker['followProgress'] = (handle) =>
    this.#follow((broker) => broker.followProgress(handle))
  followChanges: Broker['followChanges'] = (handle) =>
    this.#follow((broker) => broker.followChanges(handle))
  followAnnouncements: Broker['followAnnouncements'] = (handle) =>
    this.#follow((broker) => broker.followAnnouncements(handle))

  followLosses: Broker['followLosses'] = (handle) =>
    void this.#follow((broker) => {
      broker.followLosses(handle)
      return async () => undefined
    })

  problem = () => (this.#broker ? this.#broker.problem() : 'The broker does not answer yet.')
  isConnected = (): boolean => this.#broker?.isConnected() ?? false

  /**
   * Also resolves with the reason if the broker is unusable, for example because of a wrong
   * password.
   */
  async closed(): Promise<Error | void> {
    let broker: Broker
    try {
      broker = await this.#connecting
    } catch (error) {
      return this.#leaving.signal.aborted ? undefined : (error as Error)
    }
    return broker.closed()
  }

  async close(): Promise<void> {
    this.#leaving.abort()
    await this.#broker?.close()
  }

  #connected(): Broker {
    if (this.#broker) return this.#broker
    throw new Error('the broker does not answer yet')
  }

  /** Starts to follow as soon as the broker is there. */
  #follow(start: (broker: Broker) => Promise<Stop> | Stop): Stop {
    let stopped = false
    const following = this.#connecting.then((broker) => (stopped ? null : start(broker)))
    following.catch(() => undefined) // `closed` says why
    return async () => {
      stopped = true
      if (this.#broker) await (await following)?.()
    }
  }
}
