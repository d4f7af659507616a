/** The files of a request's outputs on the service. */

import type { OutputFile } from '../../clients/typescript/client.ts'

export interface StoredFile {
  url: string
  name: string
  /** Such as `wav`, the extension of the name. */
  format: string
}

/** The sound and, if there is one, the video. */
export function filesOf({ url, video_url: video, file_name: name }: OutputFile): StoredFile[] {
  const sound = { url, name, format: name.split('.').pop()! }
  return video === undefined
    ? [sound]
    : [sound, { url: video, name: withExtension(name, 'mp4'), format: 'mp4' }]
}

export const withExtension = (name: string, extension: string): string =>
  name.replace(/\.\w+$/, `.${extension}`)
