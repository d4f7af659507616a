/** The keys of media: under which name each file and each output of a request is stored. */

import type { OutputPart } from '../../shared/messages.ts'

export const inputKey = (fileId: string): string => `inputs/${fileId}`

/** Everything that was written for a request lies below it. */
export const outputsKey = (requestId: string): string => `outputs/${requestId}`

/** All that one attempt has stored lies below it. */
export const placeKey = (requestId: string, place: string): string =>
  `${outputsKey(requestId)}/${place}`

/** @param place absent: the only one, as engines of 0.2.0 and buckets have it */
export const outputKey = (requestId: string, part: OutputPart, place?: string): string =>
  `${place === undefined ? outputsKey(requestId) : placeKey(requestId, place)}/${part}`

/** The checkpoint of a request lies below it: no attempt has such an id. */
export const checkpointKey = (requestId: string): string => placeKey(requestId, 'checkpoint')

/** @param segment its number */
export const segmentKey = (requestId: string, segment: number): string =>
  `${checkpointKey(requestId)}/${segment}`

/** Whose media lies under a key: a file's or a request's. Undefined for a key of another form. */
export function ownerOf(key: string): { table: 'files' | 'requests'; id: string } | undefined {
  const [, kind, id] = /^(inputs|outputs)\/([^/]+)/.exec(key) ?? []
  return id === undefined ? undefined : { table: kind === 'inputs' ? 'files' : 'requests', id }
}
