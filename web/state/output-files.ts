/** The files of a request's outputs, as the service keeps them. */

import type { OutputFile } from '../../clients/typescript/client.ts'

export interface StoredFile {
  url: string
  name: string
  /** Such as `wav`: how the name ends. */
  format: string
}

/** The sound, and the picture with it where there is one. */
export function filesOf({ url, video_url: video, file_name: name }: OutputFile): StoredFile[] {
  const sound = { url, name, format: name.split('.').pop()! }
  return video === undefined
    ? [sound]
    : [sound, { url: video, name: withExtension(name, 'mp4'), format: 'mp4' }]
}

export const withExtension = (name: string, extension: string): string =>
  name.replace(/\.\w+$/, `.${extension}`)
