/** The tags of a source, such as title and artist, for the files that are made of it. */

import type { Dictionary, FormatContext, Stream } from 'node-av/lib'

/** FFmpeg's names of those that every kind of file has, in any case. */
const KEPT = [
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

export type Tags = Readonly<Partial<Record<(typeof KEPT)[number], string>>>

/** A source's tags, and the mark of an output. */
export type FileTags = Tags & { readonly encoded_by?: string }

/** Per tag: a file may state megabytes. */
export const TAG_CHARACTERS_MAX = 500

/** The tags of a file or, as in Ogg, of its sound; each cut to a length. */
export function tagsOf({ metadata }: FormatContext, stream: Stream): Tags {
  return Object.fromEntries(
    KEPT.flatMap((name) => {
      const text = valueOf(metadata, name) ?? valueOf(stream.metadata, name)
      return text ? [[name, text]] : []
    }),
  )
}

/** Without control characters, line breaks included, which not every kind of file can hold. */
function valueOf(metadata: Dictionary | null, name: string): string | undefined {
  const text = metadata
    ?.get(name)
    ?.replace(/\p{Cc}+/gu, ' ')
    .trim()
  return text && [...text].slice(0, TAG_CHARACTERS_MAX).join('')
}
