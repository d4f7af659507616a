/**
 * Lets a gateway and an engine on one disk hand over files by name instead of sending their bytes.
 * An engine asks for it at the signed addresses of its job; where it is not possible, bytes are
 * sent as between any two hosts.
 */

import { relative } from 'node:path'

/** With a GET: the name of the job's folder, into which the gateway may copy the media. */
export const FOLDER_HEADER = 'winnow-folder'
/** The copy's name there. A gateway that made it answers 204 instead of the bytes. */
export const COPY_NAME = 'handed-over'
/** With a POST to a job's `hand_over_url`: complete files, which the gateway may keep. */
export const FILES_HEADER = 'winnow-files'

/** From the folder that both share. Without dots: no name leads out of it. */
const NAME = /^[\w-]+(\/[\w-]+)*$/

export const isHandOverName = (name: unknown): name is string =>
  typeof name === 'string' && NAME.test(name)

/** The value of FILES_HEADER: the name of the file that is each part. */
export const writeFileNames = (names: ReadonlyMap<string, string>): string =>
  [...names].map((pair) => pair.join('=')).join(',')

/** @returns by part; undefined for what is no list of names */
export function readFileNames(text: unknown): Map<string, string> | undefined {
  if (typeof text !== 'string') return undefined
  const pairs = text.split(',').map((pair) => pair.split('=') as [string, string])
  return pairs.every(([, name]) => isHandOverName(name)) ? new Map(pairs) : undefined
}

/** The name of `path` from the folder that a gateway shares; undefined where it lies elsewhere. */
export function handOverName(sharedFolder: string | undefined, path: string): string | undefined {
  const name = sharedFolder === undefined ? undefined : relative(sharedFolder, path)
  return isHandOverName(name) ? name : undefined
}
