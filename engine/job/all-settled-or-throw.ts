/** Awaits several promises. */

/** Like Promise.all, but throws only after all promises have settled. */
export async function allSettledOrThrow<T>(promises: readonly (Promise<T> | T)[]): Promise<T[]> {
  const settled = await Promise.allSettled(promises)
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
  return settled.map((each) => (each as PromiseFulfilledResult<Awaited<T>>).value)
}
