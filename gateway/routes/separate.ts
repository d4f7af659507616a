import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ServiceError } from '../../shared/errors.ts'
import { errorBody } from '../api/error-handler.ts'
import { fileBytesMax, readForm } from '../api/form.ts'
import { describeNulls } from '../api/nulls.ts'
import { responses } from '../api/openapi.ts'
import { secondsToWait } from '../api/prefer.ts'
import {
  AudioSeparateInput,
  QueueResultResponse,
  QueueSubmitResponse,
  SubmitAudioSeparateRequest,
} from '../api/schemas.ts'
import type { Deps } from '../deps.ts'
import { separate } from '../requests/separate.ts'
import { resultOf } from '../requests/own-requests.ts'
import type { RequestRow } from '../store/schema/tables.ts'
import { hangUpOf, idempotencyHeader, submitLinks } from './submit.ts'

const { file_id: _file, prompts: _prompts, ...formInput } = AudioSeparateInput.properties
const { input: _input, ...formTop } = SubmitAudioSeparateRequest.properties

const SeparateForm = Type.Object(
  {
    ...formInput,
    ...formTop,
    prompt: {
      ...formInput.prompt,
      description: 'The sound to extract, in plain language; given again, one more of them.',
    },
    // as JSON, in which null counts as absent
    spans: Type.Optional(describeNulls(formInput.spans as object)),
    file: Type.Optional(
      Type.String({
        contentMediaType: 'application/octet-stream',
        description: 'The media, as the last part. Exactly one of file, audio_url and request_id.',
      }),
    ),
  },
  { title: 'SeparateForm' },
)

const DESCRIPTION =
  'Extension. Creates the file, takes its bytes and submits the separation. The fields are ' +
  'those of a submit and its `input`: `prompt` once for each sound, `metadata` and `spans` ' +
  'as JSON. `file` is the last part; the key then needs the scope `files:write`, too. With ' +
  '`Prefer: wait=N` (seconds, 60 at most) the answer is the result (200), or that of a ' +
  'submit (202) once the time is up.'

/** Extension: a file, its prompt and, if one waits for it, the result in one call. */
export async function separateRoute(app: FastifyInstance, deps: Deps): Promise<void> {
  await app.register(multipart)
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.post(
    '/v1/audio/separate',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'separate',
        summary: 'Send a file with its prompt; wait for the result',
        description: DESCRIPTION,
        tags: ['queue'],
        consumes: ['multipart/form-data'],
        headers: {
          type: 'object',
          properties: {
            ...idempotencyHeader,
            Prefer: {
              type: 'string',
              pattern: 'wait=\\d+',
              description: 'As in RFC 7240: `wait=30` waits 30 seconds for the result.',
            },
          },
        },
        body: SeparateForm,
        response: responses({ 200: QueueResultResponse, 202: QueueSubmitResponse }, [
          400,
          401,
          402,
          403,
          'RESULT_NOT_READY',
          'REQUEST_FAILED',
          'IDEMPOTENCY_CONFLICT',
          410,
          413,
          415,
          'MEDIA_QUOTA_EXCEEDED',
          500,
          502,
        ]),
      },
      links: { 202: submitLinks },
    },
    async (request, reply) => {
      const { answer, ended, waitedSecondsMax } = await takeForm(deps, request, reply).catch(
        (error: unknown) => {
          request.raw.unpipe() // from the form's reader: the rest is thrown away
          throw error
        },
      )
      if (!ended) return reply.status(202).type('application/json; charset=utf-8').send(answer)
      reply.header('preference-applied', `wait=${waitedSecondsMax}`)
      return sendEnd(deps, ended, reply)
    },
  )
}

async function takeForm(deps: Deps, request: FastifyRequest, reply: FastifyReply) {
  const signal = hangUpOf(reply)
  const { file, ...form } = await readForm(request)
  return separate(deps, request.apiKey, {
    ...form,
    file: file && { ...file, bytesMax: fileBytesMax(request) },
    idempotencyKey: request.headers['idempotency-key'],
    waitSeconds: secondsToWait(request.headers.prefer),
    signal,
  })
}

async function sendEnd(deps: Deps, row: RequestRow, reply: FastifyReply): Promise<FastifyReply> {
  try {
    return await reply.send(await resultOf(deps, row))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return reply.status(error.status).send(errorBody(error, row.request_id))
  }
}
