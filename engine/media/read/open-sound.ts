/** Opens the sound of a local file in order to measure it, decode it, or do both. */

import { ServiceError } from '../../../shared/errors.ts'
import { FrameReader } from './frame-reader.ts'
import { type ByteRange, joinedFiles } from './joined-files.ts'
import { type Media, openMedia, type OpenOptions, refusalOf } from './open-media.ts'
import { tagsOf, type Tags } from './tags.ts'

/** The state before reading, which may change it, for example the tags. */
export interface OpenSound {
  path: string
  media: Media
  reader: FrameReader
  tags: Tags
  /** The files after this one, if several are concatenated. */
  following: readonly ByteRange[]
  /** As in `OpenOptions`; also applies to the following files. */
  track?: number | undefined
  close(): Promise<void>
}

/**
 * @param track as in `OpenOptions`
 * @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM
 */
export async function openSound(path: string, track?: number): Promise<OpenSound> {
  const [range, ...following] = await joinedFiles(path)
  return { ...(await openPart(path, { range, track })), following }
}

/** Opens one of the `following` files; if it cannot be read, returns why. */
export async function openFollowing(
  { path, track }: OpenSound,
  range: ByteRange,
): Promise<OpenSound | ServiceError> {
  try {
    return await openPart(path, { range, track })
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}

/** @throws ServiceError INVALID_MEDIA, NO_AUDIO_STREAM */
export async function openPart(path: string, options: OpenOptions): Promise<OpenSound> {
  const media = await openMedia(path, options)
  try {
    const reader = await FrameReader.open(media)
    const tags = tagsOf(media.context, media.stream)
    const close = async () => {
      reader.close()
      await media.context.closeInput()
    }
    const track = media.isPaired ? 1 : options.track
    return { path, media, reader, tags, following: [], track, close }
  } catch (error) {
    await media.context.closeInput()
    throw refusalOf(error)
  }
}
