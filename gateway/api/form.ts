/** Reads a form (`multipart/form-data`) with the fields of a submit and a file, the last part. */

import type { Readable } from 'node:stream'
import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ServiceError } from '../../shared/errors.ts'
import { LIMITS } from '../../shared/separation-options.ts'
import { assertFewValues } from './body-text.ts'
import { compactJson } from './json-text.ts'
import { AudioSeparateInput, SubmitAudioSeparateRequest } from './schemas.ts'
import { BODY_BYTES_MAX } from './validation.ts'

/** As many fields as there are, with each prompt and some blanks. */
const FIELDS_MAX = 64
const FIELD_NAME_BYTES_MAX = 100
const HEADERS_MAX = 20

const FILE = 'file'

export interface FormFile {
  name: string
  contentType: string
  body: Readable
  /** @throws ServiceError when the form does not end with the file */
  end(): Promise<void>
}

export interface Form {
  /** As the JSON body of a submit, without `input.file_id`. */
  body: { input: Record<string, unknown> } & Record<string, unknown>
  metadataText: string | undefined
  file: FormFile | undefined
}

/** Fields of the body's top level; all others are those of `input`. */
const TOP = SubmitAudioSeparateRequest.properties as Record<string, TSchema>
const INPUT = AudioSeparateInput.properties as Record<string, TSchema>

/**
 * Reads up to the bytes of the file.
 * @throws ServiceError `INVALID_REQUEST` for what is no such form
 */
export async function readForm(request: FastifyRequest): Promise<Form> {
  if (!request.isMultipart()) {
    throw invalid('The body must be a form: Content-Type: multipart/form-data.')
  }
  const parts = request.parts({
    limits: {
      fieldNameSize: FIELD_NAME_BYTES_MAX,
      fieldSize: BODY_BYTES_MAX,
      fields: FIELDS_MAX,
      files: 1,
      fileSize: Infinity, // counted where it is stored
      headerPairs: HEADERS_MAX,
    },
  })
  const next = async () => (await parts.next().catch(asInvalid)).value ?? undefined
  const given: [name: string, text: string][] = []
  let bytes = 0
  for (let part = await next(); part; part = await next()) {
    const { fieldname: name } = part
    if (part.type === 'file') {
      if (name !== FILE) throw invalid(`The file must be the field ${FILE}, not ${name}.`, name)
      return { ...bodyOf(given), file: formFile(part, next) }
    }
    const text = typeof part.value === 'string' ? part.value : JSON.stringify(part.value)
    bytes += name.length + text.length
    if (part.valueTruncated || part.fieldnameTruncated || bytes > BODY_BYTES_MAX) {
      throw new ServiceError('PAYLOAD_TOO_LARGE', {
        message: `The fields before the file are larger than ${BODY_BYTES_MAX} bytes.`,
      })
    }
    if (name === FILE) throw invalid('file is given as text; send it as a file.', FILE)
    given.push([name, text])
  }
  return { ...bodyOf(given), file: undefined }
}

const formFile = (part: MultipartFile, next: () => Promise<unknown>): FormFile => ({
  name: part.filename,
  contentType: part.mimetype,
  body: part.file,
  async end() {
    if (await next()) throw invalid('The file must be the last part of the form.', FILE)
  },
})

/** @throws ServiceError `INVALID_REQUEST` for a field that is given twice, or broken JSON */
function bodyOf(given: readonly [name: string, text: string][]): Omit<Form, 'file'> {
  const prompts = given.filter(([name]) => name === 'prompt').map(([, text]) => text)
  const [top, input] = [new Map<string, unknown>(), new Map<string, unknown>()]
  let metadataText: string | undefined
  for (const [name, text] of given) {
    if (name === 'prompt') continue
    const isTop = name !== 'input' && Object.hasOwn(TOP, name)
    const fields = isTop ? top : input
    if (fields.has(name)) throw invalid(`${name} is given twice.`, name)
    const schema = (isTop ? TOP : INPUT)[name]
    fields.set(name, valueOf(schema, text, name))
    if (name === 'metadata') metadataText = compactJson(text)
  }
  if (prompts.length > 0) {
    if (input.has('prompts')) throw invalid('Give prompts as fields prompt.', 'prompts')
    if (prompts.length === 1) input.set('prompt', prompts[0])
    else input.set('prompts', prompts)
  }
  return { body: { ...Object.fromEntries(top), input: Object.fromEntries(input) }, metadataText }
}

/** Converts a form's text to its schema's type; other text stays, for the schema to refuse. */
function valueOf(schema: TSchema | undefined, text: string, name: string): unknown {
  const { type } = Object(schema) as { type?: string }
  if (type === 'object' || type === 'array') return jsonOf(text, name)
  if (type === 'boolean') return { true: true, false: false }[text.trim()] ?? text
  if (type === 'number' || type === 'integer') {
    return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  }
  return text
}

function jsonOf(text: string, name: string): unknown {
  assertFewValues(text)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceError('INVALID_REQUEST', {
      message: `${name} must be JSON.`,
      param: name,
      cause,
    })
  }
}

/** Turns errors of a form's parser into 400; its own limits have a status. */
function asInvalid(error: Error & { statusCode?: number; code?: string }): never {
  if (error.code === 'ECONNRESET' || error.statusCode !== undefined) throw error
  throw new ServiceError('INVALID_REQUEST', { message: `The form is broken: ${error.message}.` })
}

const invalid = (message: string, param?: string) =>
  new ServiceError('INVALID_REQUEST', { message, ...(param !== undefined && { param }) })

/** Most bytes of the file: those of the whole form, where they are known. */
export function fileBytesMax({ headers }: FastifyRequest): number {
  const length = Number(headers['content-length'] ?? LIMITS.fileBytesMax)
  if (length > LIMITS.fileBytesMax + BODY_BYTES_MAX) {
    throw new ServiceError('PAYLOAD_TOO_LARGE', {
      message: `The form has ${length} bytes; its file may have ${LIMITS.fileBytesMax} at most.`,
    })
  }
  return Math.min(length, LIMITS.fileBytesMax)
}
