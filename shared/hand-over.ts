/**
 * Files that a gateway and an engine on one disk hand each other by name instead of by their bytes.
 * An engine asks for it at the signed addresses of its job; where it cannot be, bytes are sent as
 * between any two hosts.
 */

import { relative } from 'node:path'

/** With a GET: the name of the job's folder, into which the gateway may copy the media. */
export const FOLDER_HEADER = 'winnow-folder'
/** The copy's name there. A gateway that made it answers 204 instead of the bytes. */
export const COPY_NAME = 'handed-over'
/** With a POST to an upload address: the name of a complete file, which the gateway may keep. */
export const FILE_HEADER = 'winnow-file'

/** From the folder that both share. Without dots: no name leads out of it. */
const NAME = /^[\w-]+(\/[\w-]+)*$/

export const isHandOverName = (name: unknown): name is string =>
  typeof name === 'string' && NAME.test(name)

/** The name of `path` from the folder that a gateway shares; undefined where it lies elsewhere. */
export function handOverName(sharedFolder: string | undefined, path: string): string | undefined {
  const name = sharedFolder === undefined ? undefined : relative(sharedFolder, path)
  return isHandOverName(name) ? name : undefined
}
