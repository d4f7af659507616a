/** Priority classes of requests: what a person waits for goes before what may take until later. */

export const PRIORITIES = ['interactive', 'batch'] as const

export type Priority = (typeof PRIORITIES)[number]

/**
 * The share of the device that each class gets while requests of both are computed; one class alone
 * gets all of it.
 */
export const DEVICE_SHARES: Readonly<Record<Priority, number>> = {
  interactive: 3 / 4,
  batch: 1 / 4,
}

const RESERVED_SHARE = 1 / 4

/**
 * Of the places in the queue and of an account's jobs, how many batch requests leave to interactive
 * ones. A single place is open to both.
 */
export const reservedOf = (places: number): number =>
  places > 1 ? Math.ceil(RESERVED_SHARE * places) : 0
