/** Types for the making of every package. */

export const COMPUTES = ['cpu', 'cuda'] as const
export type Compute = (typeof COMPUTES)[number]

/** Takes a line that shows how far the work is. */
export type Say = (line: string) => void
