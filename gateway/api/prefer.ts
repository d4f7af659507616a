/** Reads the header `Prefer` (RFC 7240). */

/** Returns how many seconds a client wants to wait for its result; 0 means not at all. */
export function secondsToWait(prefer: string | string[] | undefined): number {
  const preferences = [prefer ?? []].flat().join(',').split(/[,;]/)
  const wait = preferences.map((text) => /^\s*wait\s*=\s*"?(\d+)"?\s*$/i.exec(text)?.[1])
  return Number(wait.find((seconds) => seconds !== undefined) ?? 0)
}
