import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { ServiceError } from '../../shared/errors.ts'
import { REQUEST_KINDS, type RequestKind } from '../../shared/request-kind.ts'
import { errorBody } from '../api/error-handler.ts'
import { installBodyDeadline } from '../api/body-deadline.ts'
import { limitOf } from '../accounts/limits.ts'
import { fileBytesMax, readForm, type FormOptions } from '../api/form.ts'
import { fieldText } from '../api/json-text.ts'
import { describeNulls } from '../api/nulls.ts'
import { responses } from '../api/openapi.ts'
import { QueueResultResponse } from '../api/result-schemas.ts'
import {
  AudioSeparateInput,
  QueueSubmitResponse,
  SubmitAudioSeparateRequest,
} from '../api/schemas.ts'
import {
  AudioSoundsInput,
  SoundsResultResponse,
  SubmitAudioSoundsRequest,
} from '../api/sounds-schemas.ts'
import {
  separate,
  type CallFields,
  type CallFile,
  type SeparateDeps,
  unlessAtFault,
} from '../requests/separate.ts'
import { resultOf, type ResultDeps } from '../requests/own-requests.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import { hangUpOf, idempotencyHeader, submitLinks } from './submit.ts'

const { file_id: _file, prompts: _prompts, ...formInput } = AudioSeparateInput.properties
const { input: _input, ...formTop } = SubmitAudioSeparateRequest.properties

const file = Type.Optional(
  Type.String({
    contentMediaType: 'application/octet-stream',
    description: 'The media. Exactly one of file, audio_url and request_id.',
  }),
)

const SeparateForm = Type.Object(
  {
    ...formInput,
    ...formTop,
    prompt: {
      ...formInput.prompt,
      description: 'The sound to extract, in plain language. Repeat it for several sounds.',
    },
    // as JSON, in which null counts as absent
    spans: Type.Optional(describeNulls(formInput.spans as object)),
    file,
  },
  { title: 'SeparateForm' },
)

const { file_id: _soundsFile, ...soundsInput } = AudioSoundsInput.properties
const SoundsForm = Type.Object({ ...soundsInput, ...formTop, file }, { title: 'SoundsForm' })

const bodies = (form: TSchema, json: TSchema) => ({
  content: {
    'multipart/form-data': { schema: form },
    'application/json': { schema: describeNulls(json as object) },
  },
})

const WITHOUT_FILE =
  'With `file` the key needs the scope `files:write`, too. Without a file, the body may be the ' +
  'JSON of a submit. With `Prefer: wait=N` (seconds, 60 at most) the answer is the result (200), ' +
  'or that of a submit (202) once the time is up.'

const DESCRIPTIONS: Readonly<Record<RequestKind, object>> = {
  separate: {
    operationId: 'separate',
    summary: 'Send a file with its prompt, and wait for the result',
    description:
      'Extension. Creates the file, takes its bytes and submits the separation. The form has the ' +
      `fields of a submit and its \`input\`: \`prompt\` once for each sound, \`metadata\` and ` +
      `\`spans\` as JSON. If \`prompt\` precedes \`file\`, an invalid one is refused before the ` +
      `file is sent. ${WITHOUT_FILE}`,
    body: bodies(SeparateForm, SubmitAudioSeparateRequest),
  },
  sounds: {
    operationId: 'sounds',
    summary: 'Send a file, and wait for the list of its sounds',
    description:
      'Extension. Creates the file, takes its bytes and asks what is in it. The form has the ' +
      `fields of a submit and its \`input\`, with \`metadata\` as JSON. ${WITHOUT_FILE}`,
    body: bodies(SoundsForm, SubmitAudioSoundsRequest),
  },
}

const RESULTS: Readonly<Record<RequestKind, object>> = {
  separate: QueueResultResponse,
  sounds: SoundsResultResponse,
}

/**
 * Extension: takes a file and what is asked of it in one call, and returns the result if the client
 * waits for it.
 */
export async function separateRoutes(app: FastifyInstance, deps: SeparateDeps & ResultDeps) {
  await app.register(multipart)
  installBodyDeadline(app, deps.config.bodySecondsMax)
  app.addContentTypeParser('*', (_request, _body, done) => done(null)) // readCall refuses these
  for (const kind of REQUEST_KINDS) separateRoute(app, deps, kind)
}

function separateRoute(app: FastifyInstance, deps: SeparateDeps & ResultDeps, kind: RequestKind) {
  app.post(
    `/v1/audio/${kind}`,
    {
      config: { scope: 'audio:separate' },
      schema: {
        ...DESCRIPTIONS[kind],
        tags: ['queue'],
        headers: {
          type: 'object',
          properties: {
            ...idempotencyHeader,
            Prefer: {
              type: 'string',
              pattern: 'wait=\\d+',
              description:
                'As in RFC 7240; for example, `wait=30` waits up to 30 seconds for the result.',
            },
          },
        },
        response: responses({ 200: RESULTS[kind], 202: QueueSubmitResponse }, [
          400,
          402,
          'RESULT_NOT_READY',
          'REQUEST_FAILED',
          'IDEMPOTENCY_CONFLICT',
          410,
          413,
          415,
          'MEDIA_QUOTA_EXCEEDED',
          502,
        ]),
      },
      links: { 202: submitLinks },
    },
    async (request, reply) => {
      const result = takeCall(deps, kind, request, reply).catch((error: unknown) => {
        request.raw.unpipe() // from the form's reader, so that the rest is discarded
        throw error
      })
      const { answer, ended, waitedSecondsMax } = await result
      const end = ended && (await readEnd(deps, ended, request))
      if (!end) return reply.status(202).type('application/json; charset=utf-8').send(answer)
      reply.header('preference-applied', `wait=${waitedSecondsMax}`)
      return reply.status(end.status).send(end.body)
    },
  )
}

async function takeCall(
  deps: SeparateDeps,
  kind: RequestKind,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const signal = hangUpOf(reply)
  return separate(deps, request.apiKey, {
    kind,
    ...(await readCall(kind, request, {
      secondsMax: deps.config.bodySecondsMax,
      fileBytesMax: limitOf(request.apiKey, 'file_bytes', deps.config.fileBytesMax).max,
      signal,
    })),
    idempotencyKey: request.headers['idempotency-key'],
    waitSeconds: secondsToWait(request.headers.prefer),
    signal,
  })
}

/**
 * Returns how many seconds a client wants to wait for the result of its call (RFC 7240); 0 means
 * not at all.
 */
function secondsToWait(prefer: string | string[] | undefined): number {
  const preferences = [prefer ?? []].flat().join(',').split(/[,;]/)
  const wait = preferences.map((text) => /^\s*wait\s*=\s*"?(\d+)"?\s*$/i.exec(text)?.[1])
  return Number(wait.find((seconds) => seconds !== undefined) ?? 0)
}

/** @throws ServiceError `INVALID_REQUEST` if the body is neither a form nor JSON */
async function readCall(
  kind: RequestKind,
  request: FastifyRequest,
  options: FormOptions & { fileBytesMax: number },
): Promise<CallFields & { file?: CallFile | undefined }> {
  if (request.isMultipart()) {
    const { file, ...fields } = await readForm(request, options)
    return {
      ...fields,
      file: file && { ...file, bytesMax: fileBytesMax(request, options.fileBytesMax) },
    }
  }
  const { body, bodyText, headers } = request
  if (bodyText !== '') return { body, metadataText: fieldText(bodyText, 'metadata') }
  const type = headers['content-type'] ?? 'none'
  const fields = kind === 'sounds' ? 'the field file' : 'the fields prompt and file'
  throw new ServiceError('INVALID_REQUEST', {
    message:
      `The body must be a form (multipart/form-data) with ${fields}, or the JSON of a submit ` +
      `(application/json); its Content-Type is ${type.slice(0, 100)}.`,
  })
}

/** Returns the answer about a request that has ended; undefined if it cannot be read now. */
async function readEnd(deps: ResultDeps, row: RequestRow, { log }: FastifyRequest) {
  const { request_id: requestId } = row
  try {
    const body = await unlessAtFault(log, requestId, () => resultOf(deps, row))
    return body && { status: 200, body }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { status: error.status, body: errorBody(error, requestId) }
  }
}
