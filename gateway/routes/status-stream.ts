import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { errorBody, toServiceError } from '../error-handler.ts'
import { STREAM_EXAMPLE } from '../openapi-notes.ts'
import { responses } from '../openapi.ts'
import { flagOf, intervalMsOf } from '../query.ts'
import type { RequestWatch } from '../request-feed.ts'
import { ErrorResponse, QueueStatusResponse, StreamTimeout } from '../schemas.ts'
import { findOwn } from '../separations.ts'
import { watchStatus } from '../status-watch.ts'
import { logsParameter, requestParams, type RequestParams } from './parameters.ts'

interface StreamQuery {
  logs?: unknown
  interval?: unknown
}

type StreamRequest = FastifyRequest<{ Params: RequestParams; Querystring: StreamQuery }>

const DESCRIPTION = `Server-Sent Events.
\`status\`: a QueueStatusResponse, at once, on every change, and at least one every \`interval\`
seconds; the stream ends after a terminal one.
\`timeout\`: a StreamTimeout, at the end of the stream window; connect again.
\`error\`: an ErrorResponse; the stream ends.`

/** The data of each event, for readers of the API description; OpenAPI 3.1 has no word for it. */
const EVENTS = { status: QueueStatusResponse, timeout: StreamTimeout, error: ErrorResponse }

/** Endpoint 7: how a request stands, as Server-Sent Events until it is finished. */
export function statusStreamRoute(app: FastifyInstance, deps: Deps): void {
  app.get<{ Params: RequestParams; Querystring: StreamQuery }>(
    '/v1/queue/requests/:request_id/status/stream',
    {
      config: { scope: 'audio:separate' },
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamStatus',
        summary: 'Follow the status of a request',
        description: 'Server-Sent Events until the request is finished or the window ends.',
        tags: ['queue'],
        params: requestParams,
        querystring: {
          type: 'object',
          properties: {
            logs: logsParameter,
            interval: {
              type: 'number', minimum: 1, maximum: 10, default: 2,
              description: 'Seconds between two events at most; clamped into its range.',
            },
          },
        },
        response: responses({
          200: {
            description: DESCRIPTION,
            content: {
              'text/event-stream': {
                schema: { type: 'string' }, example: STREAM_EXAMPLE, 'x-events': EVENTS,
              },
            },
          },
        }, [401, 403, 404, 500]),
      },
    },
    async (request, reply) => {
      const { request_id: requestId } = request.params
      await findOwn(deps, request.accountId, requestId)
      const watch = deps.feed.watch(requestId)
      reply.raw.once('close', () => watch.close()) // the client is gone: nobody waits any more
      reply.header('content-type', 'text/event-stream')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no')
        .header('connection', 'close') // else a client that stays connected holds up our end
      return reply.send(Readable.from(statusEvents(deps, request, watch)))
    },
  )
}

/** The events of one stream. */
async function* statusEvents(deps: Deps, request: StreamRequest, watch: RequestWatch) {
  const { accountId, params: { request_id: requestId }, query } = request
  const options = {
    accountId, requestId, logs: flagOf(query.logs), intervalMs: intervalMsOf(query.interval),
    windowMs: 1_000 * deps.config.streamWindowSeconds,
  }
  try {
    for await (const { name, status } of watchStatus(deps, watch, options)) {
      yield eventOf(name, name === 'status' ? status : {
        request_id: requestId,
        status: status.status,
        message: 'The stream window has ended; connect again to go on.',
      })
    }
  } catch (error) {
    request.log.error({ err: error, requestId: request.id }, 'a status stream failed')
    yield eventOf('error', errorBody(toServiceError(error, request), requestId))
  }
}

const eventOf = (name: 'status' | 'timeout' | 'error', data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
