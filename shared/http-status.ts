/** Statuses that say "not now": the same request may be answered later. */
export const isTemporaryStatus = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429
