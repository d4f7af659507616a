/** Opens the sound of a local file, to be measured, decoded, or one after the other. */

import { FrameReader } from './frame-reader.ts'
import { type Media, openMedia, refusalOf } from './open-media.ts'
import { tagsOf, type Tags } from './tags.ts'

/** What reading may change, such as the tags, is as it was before. */
export interface OpenSound {
  path: string
  media: Media
  reader: FrameReader
  tags: Tags
  close(): Promise<void>
}

/** @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM */
export async function openSound(path: string): Promise<OpenSound> {
  const media = await openMedia(path)
  try {
    const reader = await FrameReader.open(media)
    const tags = tagsOf(media.context, media.stream)
    const close = async () => {
      reader.close()
      await media.context.closeInput()
    }
    return { path, media, reader, tags, close }
  } catch (error) {
    await media.context.closeInput()
    throw refusalOf(error)
  }
}
