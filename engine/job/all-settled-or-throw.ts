/** Awaits several promises. */

/** Like Promise.all, but throws only after all promises have settled. */
export async function allSettledOrThrow<T>(promises: readonly (Promise<T> | T)[]): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<Awaited<T>>).value)
}
