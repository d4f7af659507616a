/**
 * Lets a gateway and an engine on the same disk exchange files by name instead of sending bytes. An
 * engine asks for it at the signed addresses of its job. If it is not possible, bytes are sent as
 * between any two hosts.
 */

import { relative } from 'node:path'

/** In a GET request: the name of the job's folder, into which the gateway may copy the media. */
export const FOLDER_HEADER = 'winnow-folder'
/** Name of the copy there. A gateway that made it answers 204 instead of sending the bytes. */
export const COPY_NAME = 'handed-over'
/** In a POST to a job's `hand_over_url`: complete files, which the gateway may keep. */
export const FILES_HEADER = 'winnow-files'

/** A path relative to the shared folder. It has no dots, so no name leads out of it. */
const NAME = /^[\w-]+(\/[\w-]+)*$/

export const isHandOverName = (name: unknown): name is string =>
  typeof name === 'string' && NAME.test(name)

/** Returns the value of FILES_HEADER: the file name of each part. */
export const writeFileNames = (names: ReadonlyMap<string, string>): string =>
  [...names].map((pair) => pair.join('=')).join(',')

/** @returns names by part; undefined if the text is not a list of names */
export function readFileNames(text: unknown): Map<string, string> | undefined {
  if (typeof text !== 'string') return undefined
  const pairs = text.split(',').map((pair) => pair.split('=') as [string, string])
  return pairs.every(([, name]) => isHandOverName(name)) ? new Map(pairs) : undefined
}

/** Returns the name of `path` relative to the shared folder; undefined if it is elsewhere. */
export function handOverName(sharedFolder: string | undefined, path: string): string | undefined {
  const name = sharedFolder === undefined ? undefined : relative(sharedFolder, path)
  return isHandOverName(name) ? name : undefined
}
