import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { responses } from '../openapi.ts'
import { presentSubmitted } from '../presenter.ts'
import { QueueSubmitResponse, SubmitAudioSeparateRequest } from '../schemas.ts'
import { submit } from '../separations.ts'
import { checkSubmission } from '../validation.ts'

/** Endpoint 5: accepts a separation. */
export function submitRoute(app: FastifyInstance, deps: Deps): void {
  app.post('/v1/queue/audio/separate', {
    config: { scope: 'audio:separate' },
    schema: {
      operationId: 'submitAudioSeparate',
      summary: 'Submit a separation',
      tags: ['queue'],
      body: SubmitAudioSeparateRequest,
      response: responses(
        { 202: QueueSubmitResponse }, [400, 401, 402, 403, 409, 410, 413, 500, 502],
      ),
    },
  }, async (request, reply) => {
    const row = await submit(deps, request.accountId, checkSubmission(request.body))
    return reply.status(202).send(presentSubmitted(row, deps.config))
  })
}
