/** Opens the sound of a local file, to be measured, decoded, or one after the other. */

import { ServiceError } from '../../shared/errors.ts'
import { FrameReader } from './frame-reader.ts'
import { type ByteRange, oggLinks } from './ogg-links.ts'
import { type Media, openMedia, type OpenOptions, refusalOf } from './open-media.ts'
import { tagsOf, type Tags } from './tags.ts'

/** What reading may change, such as the tags, is as it was before. */
export interface OpenSound {
  path: string
  media: Media
  reader: FrameReader
  tags: Tags
  /** The links of a chained Ogg after this one, which is the first. */
  following: readonly ByteRange[]
  close(): Promise<void>
}

/**
 * @param track as of `OpenOptions`
 * @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM
 */
export async function openSound(path: string, track?: number): Promise<OpenSound> {
  const [range, ...following] = await oggLinks(path)
  const sound = await openPart(path, { range, track })
  if (following.length === 0) return sound
  if (!sound.media.picture) return { ...sound, following }
  await sound.close()
  return openPart(path, { track }) // its pictures are read as one stream, too
}

/** Opens a link of a chained Ogg as a file of its own; null for one that is damaged. */
export async function openLink(path: string, link: ByteRange): Promise<OpenSound | null> {
  try {
    return await openPart(path, { range: link })
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}

async function openPart(path: string, options: OpenOptions): Promise<OpenSound> {
  const media = await openMedia(path, options)
  try {
    const reader = await FrameReader.open(media)
    const tags = tagsOf(media.context, media.stream)
    const close = async () => {
      reader.close()
      await media.context.closeInput()
    }
    return { path, media, reader, tags, following: [], close }
  } catch (error) {
    await media.context.closeInput()
    throw refusalOf(error)
  }
}
