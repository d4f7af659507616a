/** Priority classes of requests: what a person waits for goes before what may take until later. */

export const PRIORITIES = ['interactive', 'batch'] as const

export type Priority = (typeof PRIORITIES)[number]

/** The share of the device that each class gets while both have requests. */
export const DEVICE_SHARES: Readonly<Record<Priority, number>> = {
  interactive: 3 / 4,
  batch: 1 / 4,
}

const RESERVED_SHARE = 1 / 4

/** How many of the places in a queue batch leaves to interactive requests. */
export const reservedOf = (places: number): number =>
  places > 1 ? Math.ceil(RESERVED_SHARE * places) : 0
