/** Counts the seconds of the device that one attempt takes. */

import type { Scheduler } from '../../compute/scheduler.ts'

type Separate = Pick<Scheduler, 'separate'>

export class DeviceMeter implements Separate {
  readonly #scheduler: Separate
  /** So far; its share of each batch, as fair scheduling counts it. */
  seconds = 0

  constructor(scheduler: Separate) {
    this.#scheduler = scheduler
  }

  /** Like `Scheduler.separate`. */
  separate(...[order, owner, options]: Parameters<Separate['separate']>) {
    const onServed = (seconds: number) => {
      this.seconds += seconds
    }
    return this.#scheduler.separate(order, owner, { ...options, onServed })
  }
}

/** Returns the dependencies of an attempt with a scheduler that counts what it takes. */
export const withDeviceMeter = <Deps extends { scheduler: Separate }>(deps: Deps) => ({
  ...deps,
  scheduler: new DeviceMeter(deps.scheduler),
})
