import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Deps } from '../deps.ts'
import { fieldText } from '../api/json-text.ts'
import { responses } from '../api/openapi.ts'
import { QueueSubmitResponse, SubmitAudioSeparateRequest } from '../api/schemas.ts'
import { hungUp, submit } from '../requests/submit.ts'

/** Operations that take the returned id. */
export const submitLinks = Object.fromEntries(
  ['getStatus', 'streamStatus', 'getResult', 'cancelRequest'].map((operationId) => [
    operationId,
    { operationId, parameters: { request_id: '$response.body#/request_id' } },
  ]),
)

export const idempotencyHeader = {
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description:
      'Extension. For 24 hours, the same key with the same body gets the same ' +
      'answer and submits nothing new; once that request is deleted, it gets 409.',
  },
} as const

/** Aborts when the client no longer waits for `reply`. */
export function hangUpOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort(hungUp()))
  return gone.signal
}

/** Endpoint 5: accepts a separation. */
export function submitRoute(app: FastifyInstance, deps: Deps): void {
  app.post(
    '/v1/queue/audio/separate',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'submitAudioSeparate',
        summary: 'Submit a separation',
        description:
          'Names the media, by `audio_url`, `file_id` or `request_id`, and the sound. Answers at ' +
          'once; follow the request by its three addresses.',
        tags: ['queue'],
        headers: { type: 'object', properties: idempotencyHeader },
        body: SubmitAudioSeparateRequest,
        response: responses({ 202: QueueSubmitResponse }, [
          400,
          401,
          402,
          403,
          'FILE_NOT_UPLOADED',
          'RESULT_NOT_READY',
          'REQUEST_FAILED',
          'IDEMPOTENCY_CONFLICT',
          410,
          413,
          'MEDIA_QUOTA_EXCEEDED',
          500,
          502,
        ]),
      },
      links: { 202: submitLinks },
    },
    async (request, reply) => {
      const { accountId, body, bodyText, headers } = request
      const { answer } = await submit(deps, accountId, {
        body,
        metadataText: fieldText(bodyText, 'metadata'),
        idempotencyKey: headers['idempotency-key'],
        signal: hangUpOf(reply),
      })
      return reply.status(202).type('application/json; charset=utf-8').send(answer)
    },
  )
}
