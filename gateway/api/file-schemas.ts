/** Uploaded files (docs/reference/contract.md, part 2) as JSON Schemas. */

import { Type, type Static } from 'typebox'
import { pagedListOf } from './list-schemas.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import { DateTime, NO_NUL, Nullable } from './schemas.ts'

export const INPUT_PURPOSE = 'audio.separate.input'

export const File = Type.Object(
  {
    file_id: Type.String(),
    file_name: Type.String(),
    content_type: Type.String(),
    file_size: Type.Integer(),
    purpose: Type.String(),
    status: Type.Enum(['pending', 'uploaded', 'expired']),
    created_at: DateTime,
    uploaded_at: Type.Optional(Nullable(DateTime)),
    expires_at: DateTime,
  },
  { title: 'File' },
)

export const FileList = pagedListOf(File, 'FileList')

/**
 * Patterns of JSON Schema have no flags. Anything that fits into a header may follow the first
 * semicolon: browsers name codecs in forms that RFC 9110 does not allow.
 */
const anyCase = (text: string): string =>
  text.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
const MEDIA_TYPE =
  `^((${anyCase('audio')}|${anyCase('video')})/[a-zA-Z0-9][a-zA-Z0-9!#$&^_.+-]*|` +
  `${anyCase('application')}/(${anyCase('ogg')}|${anyCase('octet-stream')}))` +
  '([ \\t]*;[\\t\\x20-\\x7e]*)?$'

export const CreateFileRequest = Type.Object(
  {
    file_name: Type.String({
      pattern: NO_NUL,
      minLength: 1,
      maxLength: LIMITS.fileNameCharactersMax,
    }),
    content_type: Type.String({
      pattern: MEDIA_TYPE,
      maxLength: 255,
      description:
        'audio/*, video/*, application/ogg or application/octet-stream, in upper or lower case. ' +
        'The service looks at the bytes to find out what they are.',
    }),
    file_size: Type.Integer({
      minimum: 1,
      maximum: LIMITS.fileBytesMax,
      description: 'Size in bytes.',
    }),
    purpose: Type.Enum([INPUT_PURPOSE]),
  },
  { title: 'CreateFileRequest' },
)

export const CreateFileResponse = Type.Object(
  {
    file_id: Type.String(),
    upload_url: Type.String({
      format: 'uri',
      description: 'Accepts the bytes, without an API key.',
    }),
    upload_method: Type.Literal('PUT'),
    headers: Type.Object({ 'content-type': Type.Optional(Type.String()) }),
    expires_at: DateTime,
    retention: Type.Object({ delete_after: Type.Optional(DateTime) }),
  },
  { title: 'CreateFileResponse' },
)

export type File = Static<typeof File>
export type FileList = Static<typeof FileList>
export type CreateFileRequest = Static<typeof CreateFileRequest>
export type CreateFileResponse = Static<typeof CreateFileResponse>
