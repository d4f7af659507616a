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

/** Of the places in the queue and of an account's jobs, batch leaves this share to interactive. */
export const RESERVED_SHARE = 1 / 4
