/** Awaits promises together. */

/** As Promise.all, but it throws only after all promises have settled. */
export async function allSettledOrThrow<T>(promises: readonly (Promise<T> | T)[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises)
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
  return settled.map((each) => (each as PromiseFulfilledResult<Awaited<T>>).value)
}
