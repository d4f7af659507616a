/** Strict checks of request bodies: nothing is coerced, and every refusal names the field. */

import type { Static, TObject, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { ServiceError, type ErrorCode } from '../../shared/errors.ts'
import type { Priority } from '../../shared/priority.ts'
import { readPrompt } from '../../shared/prompts/read-prompt.ts'
import { AUTO } from '../../shared/prompts/route-prompt.ts'
import { soundsOptions, TAGGER, type RequestKind } from '../../shared/request-kind.ts'
import { DEFAULT_OPTIONS, LIMITS, type SeparationOptions } from '../../shared/separation-options.ts'
import { isDeeperThan } from './json-text.ts'
import { CreateFileRequest } from './file-schemas.ts'
import { AudioSeparateInput, SubmitAudioSeparateRequest } from './schemas.ts'
import { SubmitAudioSoundsRequest, type AudioSoundsInput } from './sounds-schemas.ts'
import { withoutNulls } from './nulls.ts'
import { WebhookTestRequest } from './webhook-schemas.ts'

/** A checked submission with its defaults filled in. */
export interface Submission {
  prompt: string
  options: SeparationOptions
  source: { audioUrl: string } | { fileId: string } | OutputSource
  /** Undefined: the account's highest. */
  priority: Priority | undefined
  /** JSON text, with numbers as the client wrote them. */
  metadata: string | null
  /** Receives the result; its address is still to be checked. Without a secret, one is made. */
  webhook: { url: string; secret: string | undefined } | null
}

/** An output of an earlier request, or its source. */
export interface OutputSource {
  requestId: string
  output: 'target' | 'residual' | 'source'
  /** Which of several targets; 0 for other outputs. */
  index: number
}

/** The limit for bodies over HTTP and messages over gRPC. */
export const BODY_BYTES_MAX = 256 * 1024

/** The most characters of a field's path in a refusal. */
const PATH_CHARACTERS_MAX = 200

type Problem = ReturnType<Validator['Errors']>[number]

const submitRequest = Compile(SubmitAudioSeparateRequest)
const soundsRequest = Compile(SubmitAudioSoundsRequest)

export const checkCreateFile = checkOf(CreateFileRequest)

export const checkWebhookTest = checkOf(WebhookTestRequest)

/**
 * Checks the body of a separation.
 * @param metadataText the compact JSON of the body's metadata, with numbers as the client wrote
 *   them
 * @throws ServiceError that names the first mistake in a body of endpoint 5
 */
function checkSeparation(body: unknown, metadataText?: string): Submission {
  const { input, ...top } = checkBody(
    submitRequest,
    withTrimmedText(body),
  ) as SubmitAudioSeparateRequest
  const prompts = checkPrompts(input)
  checkSounds(prompts)
  const [prompt, ...further] = prompts
  return {
    prompt,
    options: { ...checkOptions(input), ...(further.length > 0 && { further_prompts: further }) },
    source: checkSourceChoice(input),
    ...checkTop(top, metadataText),
  }
}

/** Like `checkSeparation`, for a body that asks for a list of sounds. */
function checkSoundsRequest(body: unknown, metadataText?: string): Submission {
  const { input, ...top } = checkBody(soundsRequest, withTrimmedText(body)) as Static<
    typeof SubmitAudioSoundsRequest
  >
  const { audio_track: track } = input
  return {
    prompt: '',
    options: soundsOptions(track === undefined ? {} : { audio_track: track }),
    source: checkSourceChoice(input),
    ...checkTop(top, metadataText),
  }
}

export const SUBMISSION_CHECKS: Readonly<
  Record<RequestKind, (body: unknown, metadataText?: string) => Submission>
> = { separate: checkSeparation, sounds: checkSoundsRequest }

const checkTop = (
  { priority, webhookUrl, webhookSecret, metadata }: Omit<SubmitAudioSeparateRequest, 'input'>,
  metadataText?: string,
): Pick<Submission, 'priority' | 'metadata' | 'webhook'> => ({
  priority,
  metadata: metadata === undefined ? null : checkMetadata(metadata, metadataText),
  webhook: webhookUrl === undefined ? null : { url: webhookUrl, secret: webhookSecret },
})

/**
 * Trims texts, and normalizes prompts to Unicode's NFC, because limits apply to texts as they are
 * stored.
 */
function withTrimmedText(body: unknown): unknown {
  const { input } = Object(body) as { input?: unknown }
  const { prompt, prompts, audio_url: url } = Object(input) as Record<string, unknown>
  const trimmed = {
    ...(typeof url === 'string' && { audio_url: url.trim() }),
    ...(typeof prompt === 'string' && { prompt: trim(prompt) }),
    ...(Array.isArray(prompts) && { prompts: prompts.slice(0, LIMITS.promptsMax + 1).map(trim) }),
  }
  if (Object.keys(trimmed).length === 0) return body
  return { ...(body as object), input: { ...(input as object), ...trimmed } }
}

const trim = (text: unknown): unknown => (typeof text === 'string' ? text.normalize().trim() : text)

/** Returns one prompt, or several that differ by more than their case. */
function checkPrompts({
  prompt,
  prompts,
}: Static<typeof AudioSeparateInput>): [string, ...string[]] {
  const refuse = (code: ErrorCode, param: string, what: string) =>
    new ServiceError(code, { message: what, param })
  if (prompts === undefined) {
    if (prompt !== undefined) return [prompt]
    throw refuse('INVALID_REQUEST', 'input.prompt', 'input.prompt is required.')
  }
  if (prompt !== undefined) {
    const message = 'Exactly one of input.prompt and input.prompts must be given.'
    throw refuse('INVALID_PARAMETER', 'input.prompts', message)
  }
  const folded = prompts.map((text) => text.toLowerCase())
  const repeated = folded.findIndex((text, i) => folded.indexOf(text) < i)
  if (repeated >= 0) {
    const param = `input.prompts[${repeated}]`
    const earlier = `input.prompts[${folded.indexOf(folded[repeated]!)}]`
    throw refuse('INVALID_PARAMETER', param, `${param} is the same as ${earlier}; ask once for it.`)
  }
  return prompts as [string, ...string[]]
}

/** @throws ServiceError if prompts name more sounds than one request may ask for */
function checkSounds(prompts: readonly string[]): void {
  const counts = prompts.map((prompt) => {
    const { wanted, unwanted } = readPrompt(prompt)
    return wanted.length + unwanted.length
  })
  const sounds = counts.reduce((sum, count) => sum + count, 0)
  if (sounds <= LIMITS.soundsMax) return
  const param = prompts.length === 1 ? 'input.prompt' : 'input.prompts'
  throw new ServiceError('INVALID_PARAMETER', {
    message: `${param} names ${sounds} sounds; a request may ask for ${LIMITS.soundsMax}.`,
    param,
  })
}

function checkSourceChoice({
  audio_url: audioUrl,
  file_id: fileId,
  request_id: requestId,
  output,
  output_index: index,
}: Static<typeof AudioSoundsInput>): Submission['source'] {
  const refuse = (param: string, message: string, code: ErrorCode = 'INVALID_PARAMETER') =>
    new ServiceError(code, { message, param })
  const sourceNames = Object.entries({
    audio_url: audioUrl,
    file_id: fileId,
    request_id: requestId,
  })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `input.${name}`)
  if (sourceNames.length !== 1) {
    const message =
      'Exactly one of input.audio_url, input.file_id and input.request_id must be given.'
    throw refuse(sourceNames[1] ?? 'input.audio_url', message)
  }
  if (requestId === undefined) {
    if (output !== undefined || index !== undefined) {
      const param = output === undefined ? 'input.output_index' : 'input.output'
      throw refuse(param, `${param} is for a source by input.request_id.`)
    }
    if (audioUrl === undefined) return { fileId: fileId! }
    if (URL.canParse(audioUrl)) return { audioUrl }
    throw refuse(
      'input.audio_url',
      'input.audio_url must be a public HTTPS URL.',
      'INVALID_AUDIO_URL',
    )
  }
  if (output === undefined) {
    const message = 'input.output is required with input.request_id: target, residual or source.'
    throw refuse('input.output', message, 'INVALID_REQUEST')
  }
  if (output !== 'target' && index !== undefined) {
    throw refuse('input.output_index', `input.output_index is for targets; there is one ${output}.`)
  }
  return { requestId, output, index: index ?? 0 }
}

function checkOptions(input: Static<typeof AudioSeparateInput>): SeparationOptions {
  const { spans = [], separator, side, preview } = input
  if (separator === TAGGER) {
    throw new ServiceError('INVALID_PARAMETER', {
      message: `input.separator must be a model that separates; ${TAGGER} only lists sounds.`,
      param: 'input.separator',
    })
  }
  // a field may be undefined, and a spread would put that in the place of a default
  const chosen = Object.entries(input).filter(
    ([name, value]) => Object.hasOwn(DEFAULT_OPTIONS, name) && value !== undefined,
  )
  const options: SeparationOptions = { ...DEFAULT_OPTIONS, ...Object.fromEntries(chosen) }
  if (input.chunk_overlap === undefined) {
    // the default fits short chunks
    options.chunk_overlap = Math.min(options.chunk_overlap, options.max_chunk_duration / 2)
  }
  const backwards = spans.findIndex(({ start, end }) => end <= start)
  if (backwards >= 0) {
    const param = `input.spans[${backwards}].end`
    throw new ServiceError('INVALID_PARAMETER', {
      message: `${param} must be greater than the span's start.`,
      param,
    })
  }
  return {
    ...options,
    ...(input.audio_track !== undefined && { audio_track: input.audio_track }),
    ...(separator !== undefined && separator !== AUTO && { separator }),
    ...(side === 'residual' && { side }),
    ...(preview && { preview }),
    spans: spans.map(({ start, end, include = true }) => ({ start, end, include })),
  }
}

function checkMetadata(metadata: object, text?: string): string {
  const refuse = (what: string) =>
    new ServiceError('INVALID_PARAMETER', { message: `metadata ${what}.`, param: 'metadata' })
  if (isDeeperThan(LIMITS.metadataDepthMax, metadata)) {
    // JSON.parse accepts deeper nesting than JSON.stringify
    throw refuse(`is nested more than ${LIMITS.metadataDepthMax} levels deep`)
  }
  const json = text ?? JSON.stringify(metadata)
  const bytes = Buffer.byteLength(json)
  if (bytes <= LIMITS.metadataBytesMax) return json
  throw refuse(`has ${bytes} bytes as JSON; at most ${LIMITS.metadataBytesMax} are allowed`)
}

/** Returns a check of request bodies, which throws a ServiceError that names the first mistake. */
export function checkOf<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const validator = Compile(schema)
  return (body) => checkBody(validator, body) as Static<T>
}

/**
 * Returns the body without the optional fields that are null.
 * @throws ServiceError that names the first mistake in the body
 */
export function checkBody(validator: Validator, input: unknown): unknown {
  const body = withoutNulls(validator.Type() as TObject, input)
  const unstorable = unstorableTextAt(knownFields(validator, body))
  if (unstorable !== undefined) {
    const param = dottedPath(unstorable)
    throw new ServiceError('INVALID_PARAMETER', {
      message: `${param || 'The body'} has text with U+0000, or that is not well-formed Unicode.`,
      ...(param && { param }),
    })
  }
  const [problem] = validator.Check(body) ? [] : validator.Errors(body)
  if (problem) throw refusal(problem, body)
  return body
}

/** Returns the body without the top-level fields that are ignored, whatever their values. */
function knownFields(validator: Validator, body: unknown): unknown {
  if (body === null || typeof body !== 'object') return body
  const { properties } = validator.Type() as TObject
  const knownEntries = Object.entries(body).filter(([name]) => Object.hasOwn(properties, name))
  return Object.fromEntries(knownEntries)
}

/** Matches text that cannot be stored: U+0000, which databases refuse, and unpaired surrogates. */
const UNSTORABLE = /[\0\p{Cs}]/u

/**
 * Returns the JSON Pointer of the first value or name in `body` with such text, or undefined if
 * there is none.
 */
function unstorableTextAt(body: unknown): string | undefined {
  const waiting = [{ value: body, pointer: '' }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    // a loop, because recursion could be too deep
    const { value, pointer } = next
    if (typeof value === 'string' && UNSTORABLE.test(value)) return pointer
    if (value === null || typeof value !== 'object') continue
    for (const [name, child] of Object.entries(value).reverse()) {
      if (UNSTORABLE.test(name)) return pointer
      waiting.push({ value: child, pointer: `${pointer}/${escapePointer(name)}` })
    }
  }
  return undefined
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

function refusal(problem: Problem, body: unknown): ServiceError {
  const param = dottedPath(problem.instancePath)
  const refuse = (code: ErrorCode, what: string, field = param) =>
    new ServiceError(code, {
      message: `${field || 'The body'} ${what}.`,
      ...(field && { param: field }),
    })
  const value = valueAt(body, problem.instancePath)
  if (param === 'content_type' && typeof value === 'string') {
    return new ServiceError('UNSUPPORTED_MEDIA_TYPE', { param })
  }
  switch (problem.keyword) {
    case 'required': {
      const [missing = ''] = problem.params.requiredProperties
      return refuse('INVALID_REQUEST', 'is required', param ? `${param}.${missing}` : missing)
    }
    case 'boolean': // where additionalProperties is false
      return refuse(
        'INVALID_REQUEST',
        isOfSeparations(param)
          ? 'is for separations; a list of sounds asks for all that is in its media'
          : 'is not a known field; check its spelling',
      )
    case 'type':
      return refuse('INVALID_REQUEST', `must be ${article(String(problem.params.type))}`)
    case 'enum': {
      const words = problem.params.allowedValues
      const code = typeof value === 'string' ? 'INVALID_PARAMETER' : 'INVALID_REQUEST'
      return refuse(code, `must be ${words.length > 1 ? 'one of ' : ''}${words.join(', ')}`)
    }
    case 'format':
      return refuse('INVALID_WEBHOOK_URL', 'must be a public HTTPS URL')
    default:
      return refuse('INVALID_PARAMETER', problem.message)
  }
}

const isOfSeparations = (param: string): boolean =>
  Object.keys(AudioSeparateInput.properties).some((name) => param === `input.${name}`)

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

const pointerParts = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/**
 * Turns `/input/spans/2/end` into `input.spans[2].end`. Its length is limited, because clients may
 * choose names of any length.
 */
const dottedPath = (pointer: string): string =>
  pointerParts(pointer.slice(0, PATH_CHARACTERS_MAX)).reduce((path, part) => {
    if (/^\d+$/.test(part)) return `${path}[${part}]`
    return path ? `${path}.${part}` : part
  }, '')

const valueAt = (body: unknown, pointer: string): unknown =>
  pointerParts(pointer).reduce((value, part) => Object(value)[part], body)
