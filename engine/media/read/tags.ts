/** The tags of a source, such as title and artist, for its outputs. */

import type { Dictionary, FormatContext, Stream } from 'node-av/lib'

/** FFmpeg's names, which may be in upper or lower case, of tags that all formats have. */
const TAG_NAMES = [
  'title',
  'artist',
  'album',
  'album_artist',
  'composer',
  'genre',
  'date',
  'track',
  'disc',
  'comment',
  'copyright',
] as const

export type Tags = Readonly<Partial<Record<(typeof TAG_NAMES)[number], string>>>

/** The tags of a source, and the mark of an output. */
export type FileTags = Tags & { readonly encoded_by?: string }

/** For each tag, since a file may contain megabytes. */
export const TAG_CHARACTERS_MAX = 500

/** Returns the tags of a file or, as in Ogg, of its sound, each limited in length. */
export function tagsOf({ metadata }: FormatContext, stream: Stream): Tags {
  return Object.fromEntries(
    TAG_NAMES.flatMap((name) => {
      const text = valueOf(metadata, name) ?? valueOf(stream.metadata, name)
      return text ? [[name, text]] : []
    }),
  )
}

/** Without control characters and line breaks, which not every format can hold. */
function valueOf(metadata: Dictionary | null, name: string): string | undefined {
  const text = metadata
    ?.get(name)
    ?.replace(/\p{Cc}+/gu, ' ')
    .trim()
  return text && [...text].slice(0, TAG_CHARACTERS_MAX).join('')
}
