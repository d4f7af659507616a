import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ErrorCode } from '../../shared/errors.ts'
import { REQUEST_KINDS, type RequestKind } from '../../shared/request-kind.ts'
import { fieldText } from '../api/json-text.ts'
import { responses } from '../api/openapi.ts'
import { QueueSubmitResponse, SubmitAudioSeparateRequest } from '../api/schemas.ts'
import { SubmitAudioSoundsRequest } from '../api/sounds-schemas.ts'
import { clientGoneError, submit, type SubmitDeps } from '../requests/submit/submit.ts'
import { onHangUp } from './common.ts'

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
      'Extension. For 24 hours, repeating a call with the same key and body returns the same ' +
      'answer and submits nothing new; once that request has been deleted, it returns 409.',
  },
} as const

/** Returns a signal that aborts when the client no longer waits for `reply`. */
export function hangUpOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  onHangUp(reply, () => gone.abort(clientGoneError()))
  return gone.signal
}

interface Description {
  schema: { operationId: string; summary: string; description: string; body: object }
  /** Errors that only this kind of submit has. */
  errors: readonly ErrorCode[]
}

const DESCRIPTIONS: Readonly<Record<RequestKind, Description>> = {
  separate: {
    schema: {
      operationId: 'submitAudioSeparate',
      summary: 'Submit a separation',
      description:
        'Names the media, by `audio_url`, `file_id` or `request_id`, and the sound. Returns at ' +
        'once; use the three addresses in the response to follow the request.',
      body: SubmitAudioSeparateRequest,
    },
    errors: ['MEDIA_QUOTA_EXCEEDED'],
  },
  sounds: {
    schema: {
      operationId: 'submitAudioSounds',
      summary: 'List the sounds in media',
      description:
        'Extension. Names the media like a separation, and nothing else. The result lists the ' +
        'sounds in it, where each one is, and how certain that is. It costs a tenth of the ' +
        'seconds, at least one, and produces no media.',
      body: SubmitAudioSoundsRequest,
    },
    errors: [],
  },
}

/** Endpoint 5, and an extension: accepts a request of either kind. */
export function submitRoutes(app: FastifyInstance, deps: SubmitDeps): void {
  for (const kind of REQUEST_KINDS) submitRoute(app, deps, kind)
}

function submitRoute(app: FastifyInstance, deps: SubmitDeps, kind: RequestKind): void {
  const { schema, errors } = DESCRIPTIONS[kind]
  app.post(
    `/v1/queue/audio/${kind}`,
    {
      config: { scope: 'audio:separate' },
      schema: {
        ...schema,
        tags: ['queue'],
        headers: { type: 'object', properties: idempotencyHeader },
        response: responses({ 202: QueueSubmitResponse }, [
          400,
          402,
          'FILE_NOT_UPLOADED',
          'RESULT_NOT_READY',
          'REQUEST_FAILED',
          'IDEMPOTENCY_CONFLICT',
          410,
          413,
          ...errors,
          502,
        ]),
      },
      links: { 202: submitLinks },
    },
    async (request, reply) => {
      const { apiKey, body, bodyText, headers } = request
      const { answer } = await submit(deps, apiKey, {
        kind,
        body,
        metadataText: fieldText(bodyText, 'metadata'),
        idempotencyKey: headers['idempotency-key'],
        signal: hangUpOf(reply),
      })
      return reply.status(202).type('application/json; charset=utf-8').send(answer)
    },
  )
}
