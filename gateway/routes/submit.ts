import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { answerOnce, keepAnswer, readIdempotencyKey } from '../idempotency.ts'
import { responses } from '../openapi.ts'
import { presentSubmitted } from '../presenter.ts'
import { QueueSubmitResponse, SubmitAudioSeparateRequest } from '../schemas.ts'
import { submit } from '../separations.ts'
import type { RequestRow } from '../store/tables.ts'
import { checkSubmission } from '../validation.ts'

/** Endpoint 5: accepts a separation. */
export function submitRoute(app: FastifyInstance, deps: Deps): void {
  app.post('/v1/queue/audio/separate', {
    config: { scope: 'audio:separate' },
    schema: {
      operationId: 'submitAudioSeparate',
      summary: 'Submit a separation',
      tags: ['queue'],
      headers: {
        type: 'object',
        properties: {
          'Idempotency-Key': {
            type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$',
            description: 'Extension. For 24 hours, the same key with the same body gets the same '
              + 'answer and submits nothing new.',
          },
        },
      },
      body: SubmitAudioSeparateRequest,
      response: responses(
        { 202: QueueSubmitResponse }, [400, 401, 402, 403, 409, 410, 413, 500, 502],
      ),
    },
  }, async (request, reply) => {
    const { accountId, body, headers } = request
    const submission = checkSubmission(body)
    const key = readIdempotencyKey(headers['idempotency-key'], accountId, body)
    const answerOf = (row: RequestRow) => JSON.stringify(presentSubmitted(row, deps.config))
    const submitNew = async () => answerOf(await submit(deps, accountId, submission, {
      ...(key && {
        first: (store, row) =>
          keepAnswer(store, deps, key, { requestId: row.request_id, answer: answerOf(row) }),
      }),
    }))
    const answer = key ? await answerOnce(deps, key, submitNew) : await submitNew()
    return reply.status(202).type('application/json; charset=utf-8').send(answer)
  })
}
