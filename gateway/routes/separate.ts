import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ServiceError } from '../../shared/errors.ts'
import { isTerminal } from '../../shared/request-status.ts'
import { assertScope } from '../accounts/auth.ts'
import { errorBody } from '../api/error-handler.ts'
import { fileBytesMax, readForm, type Form } from '../api/form.ts'
import { describeNulls } from '../api/nulls.ts'
import { responses } from '../api/openapi.ts'
import { secondsToWait } from '../api/prefer.ts'
import {
  AudioSeparateInput,
  QueueResultResponse,
  QueueSubmitResponse,
  SubmitAudioSeparateRequest,
} from '../api/schemas.ts'
import { checkSubmission } from '../api/validation.ts'
import type { Deps } from '../deps.ts'
import { discardFile, receiveFile } from '../requests/receive-file.ts'
import { resultOf } from '../requests/separations.ts'
import { watchStatus } from '../requests/status-watch.ts'
import { submit } from '../requests/submit.ts'
import { findRequest } from '../store/requests.ts'
import type { RequestRow } from '../store/tables.ts'
import { hangUpOf, idempotencyHeader, submitLinks } from './submit.ts'

/** Stands for the file while its bytes are still to come. */
const TO_COME = 'file_to_come'

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
      const seconds = secondsToWait(request.headers.prefer)
      const answer = await takeForm(deps, request, reply).catch((error: unknown) => {
        request.raw.unpipe() // from the form's reader: the rest is thrown away
        throw error
      })
      const { request_id: requestId } = JSON.parse(answer) as { request_id: string }
      const ended = seconds > 0 && (await endOf(deps, request, reply, { requestId, seconds }))
      if (!ended) return reply.status(202).type('application/json; charset=utf-8').send(answer)
      reply.header('preference-applied', `wait=${seconds}`)
      return sendEnd(deps, ended, reply)
    },
  )
}

/** @returns what a submit answers */
async function takeForm(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const { accountId } = request
  const signal = hangUpOf(reply)
  const form = await readForm(request)
  const received = form.file && (await takeFile(deps, request, form, signal))
  const given = {
    metadataText: form.metadataText,
    idempotencyKey: request.headers['idempotency-key'],
    signal,
  }
  if (!received) return submit(deps, accountId, { ...given, body: form.body })
  const { fileId, hash } = received
  try {
    const answer = await submit(deps, accountId, {
      ...given,
      body: withFile(form, fileId),
      fingerprinted: withFile(form, hash),
    })
    // a call that was made before has a file of its own
    const row = await findRequest(deps.store, JSON.parse(answer).request_id)
    if (row?.file_id !== fileId) await discardFile(deps, fileId)
    return answer
  } catch (error) {
    await discardFile(deps, fileId)
    throw error
  }
}

async function takeFile(
  deps: Deps,
  request: FastifyRequest,
  { file, ...form }: Form,
  signal: AbortSignal,
) {
  assertScope(request.apiKey, 'files:write')
  checkSubmission(withFile(form, TO_COME), form.metadataText) // before the file is sent
  const { name, contentType, body, end } = file!
  const bytesMax = fileBytesMax(request)
  const incoming = { name, contentType, body, bytesMax, signal }
  const received = await receiveFile(deps, request.accountId, incoming)
  await end().catch(async (error: unknown) => {
    await discardFile(deps, received.fileId)
    throw error
  })
  return received
}

const withFile = ({ body }: Pick<Form, 'body'>, fileId: string) => ({
  ...body,
  input: { ...body.input, file_id: fileId },
})

/** The request once it has ended; undefined: not within the time, or nobody may wait now. */
async function endOf(
  deps: Deps,
  { apiKey: key, accountId }: FastifyRequest,
  reply: FastifyReply,
  { requestId, seconds }: { requestId: string; seconds: number },
): Promise<RequestRow | undefined> {
  const ms = 1_000 * seconds
  try {
    const watch = deps.feed.watch(requestId, accountId)
    reply.raw.once('close', () => watch.close())
    const options = { key, requestId, logs: false, intervalMs: ms, windowMs: ms }
    for await (const { row } of watchStatus(deps, watch, options)) {
      if (isTerminal(row.status)) return row
    }
  } catch (error) {
    // as many streams are open as the account may have
    if (!(error instanceof ServiceError && error.code === 'RATE_LIMITED')) throw error
  }
  return undefined
}

async function sendEnd(deps: Deps, row: RequestRow, reply: FastifyReply): Promise<FastifyReply> {
  try {
    return await reply.send(await resultOf(deps, row))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return reply.status(error.status).send(errorBody(error, row.request_id))
  }
}
