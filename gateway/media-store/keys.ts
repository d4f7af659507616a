/** Makes the keys under which each file and each output of a request is stored. */

import type { OutputPart } from '../../shared/messages.ts'

export const inputKey = (fileId: string): string => `inputs/${fileId}`

/** Everything that is stored for a request is below this key. */
export const outputsKey = (requestId: string): string => `outputs/${requestId}`

/** Everything that one attempt has stored is below this key. */
export const placeKey = (requestId: string, place: string): string =>
  `${outputsKey(requestId)}/${place}`

/** @param place absent in signed addresses of uploads, in buckets, and for what 0.2.0 stored */
export const outputKey = (requestId: string, part: OutputPart, place?: string): string =>
  `${place === undefined ? outputsKey(requestId) : placeKey(requestId, place)}/${part}`

/** The checkpoint of a request is below this key. No attempt has such an id. */
export const checkpointKey = (requestId: string): string => placeKey(requestId, 'checkpoint')

export const segmentKey = (requestId: string, segment: number): string =>
  `${checkpointKey(requestId)}/${segment}`

/** The live preview of a request is below this key. */
export const livePreviewKey = (requestId: string): string => placeKey(requestId, 'live')

export const livePartKey = (requestId: string, part: number): string =>
  `${livePreviewKey(requestId)}/${part}`

/**
 * Returns the file or request to which the media under a key belongs, or undefined for a key of
 * another form.
 */
export function ownerOf(key: string): { table: 'files' | 'requests'; id: string } | undefined {
  const [, kind, id] = /^(inputs|outputs)\/([^/]+)/.exec(key) ?? []
  return id === undefined ? undefined : { table: kind === 'inputs' ? 'files' : 'requests', id }
}
