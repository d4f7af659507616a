import { currentClient } from './credential.ts'

/** Fetches bytes of a file of the service, including the first and the last. */
export const readRange = async (url: string, first: number, last: number): Promise<ArrayBuffer> =>
  (await currentClient().open(url, { range: `bytes=${first}-${last}` })).arrayBuffer()
