/** Types shared by the makers of packages. */

export const COMPUTES = ['cpu', 'cuda'] as const
export type Compute = (typeof COMPUTES)[number]

/** Prints a line of progress. */
export type Say = (line: string) => void
