/** Reads a form (`multipart/form-data`) with the fields of a submit, and a file among them. */

import { Readable } from 'node:stream'
import type { Multipart, MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { withDeadline } from '../../shared/deadline.ts'
import { ServiceError } from '../../shared/errors.ts'
import { incompleteBody } from './body-deadline.ts'
import { assertFewValues } from './body-text.ts'
import { compactJson } from './json-text.ts'
import { AudioSeparateInput, SubmitAudioSeparateRequest } from './schemas.ts'
import { BODY_BYTES_MAX } from './validation.ts'

/** The most fields a form can need: each field once, each prompt, and some to spare. */
const FIELDS_MAX = 64
const HEADERS_MAX = 20

const FILE = 'file'
/** The type of a part that states none (RFC 7578, 4.4), as Python's `requests` sends files. */
const NO_TYPE = 'text/plain'
const ANY_TYPE = 'application/octet-stream'

/** The fields of a form, as the JSON body of a submit without `input.file_id`. */
export interface FormFields {
  body: { input: Record<string, unknown> } & Record<string, unknown>
  /** The compact JSON of the metadata, as the client wrote its numbers. */
  metadataText: string | undefined
}

export interface FormFile {
  name: string
  contentType: string
  /** Its errors are ServiceErrors. */
  body: Readable
  /**
   * Reads what follows the file, and returns the fields of the whole form.
   * @throws ServiceError for anything that is not such a form, or arrives too slowly
   */
  end(): Promise<FormFields>
}

/** The fields before the file, or all of them if there is no file. */
export interface Form extends FormFields {
  file: FormFile | undefined
}

export interface FormOptions {
  /** The time for the fields before the file to arrive, and again for those after it. */
  secondsMax: number
  signal: AbortSignal
}

/** Fields of the body's top level; all others are those of `input`. */
const TOP = SubmitAudioSeparateRequest.properties as Record<string, TSchema>
const INPUT = AudioSeparateInput.properties as Record<string, TSchema>

/**
 * Reads a form up to the bytes of its file.
 * @throws ServiceError `INVALID_REQUEST` if it is not such a form, or arrives too slowly
 */
export async function readForm(request: FastifyRequest, options: FormOptions): Promise<Form> {
  const parts = request.parts({
    // Text of any other type would be parsed, and lose digits.
    isPartAFile: (_name, type, fileName) => fileName !== undefined || type !== NO_TYPE,
    limits: {
      fieldSize: BODY_BYTES_MAX,
      fields: FIELDS_MAX,
      files: FIELDS_MAX,
      fileSize: Infinity, // counted where it is stored
      headerPairs: HEADERS_MAX,
    },
  })
  const fields = new FieldReader(parts)
  const file = await inTime(options, fields.readToFile())
  return {
    ...bodyOf(fields.read),
    file: file && {
      name: file.filename ?? FILE,
      contentType: file.mimetype === NO_TYPE ? ANY_TYPE : file.mimetype,
      body: Readable.from(bytesOf(file), { highWaterMark: 1 }),
      async end() {
        if (await inTime(options, fields.readToFile())) throw invalid('file is given twice.', FILE)
        return bodyOf(fields.read)
      },
    },
  }
}

/** @throws ServiceError when `work` takes too long; the signal's reason */
const inTime = <T>({ secondsMax, signal }: FormOptions, work: Promise<T>): Promise<T> =>
  withDeadline(
    { ms: 1_000 * secondsMax, timeoutError: () => incompleteBody(secondsMax), signal },
    (deadline) =>
      Promise.race([
        work,
        new Promise<never>((_resolve, reject) => {
          deadline.addEventListener('abort', () => reject(deadline.reason as Error))
        }),
      ]),
  )

type Field = readonly [name: string, text: string]

class FieldReader {
  /** The fields that have arrived, in order. */
  readonly read: Field[] = []
  readonly #parts: AsyncIterator<Multipart>
  #bytes = 0

  constructor(parts: AsyncIterator<Multipart>) {
    this.#parts = parts
  }

  /** Reads up to the file. Returns undefined if none follows. */
  async readToFile(): Promise<MultipartFile | undefined> {
    for (;;) {
      const part = (await this.#parts.next().catch(asInvalid)).value as Multipart | undefined
      if (!part) return undefined
      const name = part.fieldname ?? '' // its type does not say that it may be missing
      if (part.type === 'file' && name === FILE) return part
      if (part.type === 'file' && part.filename !== undefined) {
        throw invalid(`The file must be the field ${FILE}, not ${name}.`, name)
      }
      this.#count(name)
      const text = part.type === 'file' ? await this.#textOf(part) : String(part.value)
      if (part.type === 'field') this.#count(text)
      if (part.type === 'field' && part.valueTruncated) throw tooLarge()
      if (name === FILE) throw invalid('file is given as text; send it as a file.', FILE)
      this.read.push([name, text])
    }
  }

  async #textOf(part: MultipartFile): Promise<string> {
    const pieces: Buffer[] = []
    for await (const piece of bytesOf(part)) {
      this.#count(piece)
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString()
  }

  #count({ length }: string | Buffer): void {
    this.#bytes += length
    if (this.#bytes > BODY_BYTES_MAX) throw tooLarge()
  }
}

/**
 * Yields the bytes of a part.
 * @throws ServiceError if the form ends within it
 */
async function* bytesOf({ file }: MultipartFile): AsyncGenerator<Buffer> {
  try {
    // A refused part stays open, so that the response can still be sent.
    yield* file.iterator({ destroyOnReturn: false })
  } catch (error) {
    asInvalid(error as Error)
  }
}

const tooLarge = () =>
  new ServiceError('PAYLOAD_TOO_LARGE', {
    message: `The fields of the form are larger than ${BODY_BYTES_MAX} bytes.`,
  })

/** @throws ServiceError `INVALID_REQUEST` for a field that is given twice, or broken JSON */
function bodyOf(formFields: readonly Field[]): FormFields {
  const prompts = formFields.filter(([name]) => name === 'prompt').map(([, text]) => text)
  const [top, input] = [new Map<string, unknown>(), new Map<string, unknown>()]
  let metadataText: string | undefined
  for (const [name, text] of formFields) {
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

/**
 * Turns errors of a form's parser into 400, except those with a status of their own, such as the
 * ones for its limits.
 */
function asInvalid(error: Error & { statusCode?: number; code?: string }): never {
  if (error.code === 'ECONNRESET' || error.statusCode !== undefined) throw error
  throw new ServiceError('INVALID_REQUEST', { message: `The form is broken: ${error.message}.` })
}

const invalid = (message: string, param?: string) =>
  new ServiceError('INVALID_REQUEST', { message, ...(param !== undefined && { param }) })

/**
 * Returns how many bytes the file can have at most: `most`, or the length of the whole form if that
 * is known and smaller.
 */
export function fileBytesMax({ headers }: FastifyRequest, most: number): number {
  const length = Number(headers['content-length'] ?? most)
  if (length > most + BODY_BYTES_MAX) {
    throw new ServiceError('PAYLOAD_TOO_LARGE', {
      message: `The form has ${length} bytes; its file may have ${most} at most.`,
    })
  }
  return Math.min(length, most)
}
