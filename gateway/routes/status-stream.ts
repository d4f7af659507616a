import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { errorBody, toServiceError } from '../api/error-handler.ts'
import { STREAM_EXAMPLE } from '../api/openapi-examples.ts'
import { responses } from '../api/openapi.ts'
import { flagOf, intervalMsOf } from '../api/pagination.ts'
import type { RequestWatch, RequestFeed } from '../requests/follow/request-feed.ts'
import { ErrorResponse, QueueStatusResponse, StreamTimeout } from '../api/schemas.ts'
import { findOwn, statusOf, type StatusDeps } from '../requests/own-requests.ts'
import { watchStatus, type WatchDeps } from '../requests/follow/status-watch.ts'
import { logsParameter, onHangUp, type RequestRoute } from './common.ts'
import type { Settings } from '../config.ts'

export type StreamDeps = StatusDeps &
  WatchDeps & { feed: Pick<RequestFeed, 'watch'>; config: Settings<'streamWindowSeconds'> }

interface StreamQuery {
  logs?: unknown
  interval?: unknown
}

type StreamRequest = FastifyRequest<RequestRoute & { Querystring: StreamQuery }>

/** Describes one event of the stream. OpenAPI 3.1 has no way of its own to do that. */
const event = (name: string, description: string, data: TSchema) =>
  Type.Object(
    {
      event: Type.Literal(name),
      data: Type.String({ contentMediaType: 'application/json', contentSchema: data }),
    },
    { description },
  )

const EVENTS = Type.Union([
  event(
    'status',
    'At once, on every change, and at least one every `interval` seconds. The ' +
      'stream ends after a terminal one.',
    QueueStatusResponse,
  ),
  event('timeout', 'The stream window has ended; connect again.', StreamTimeout),
  event(
    'error',
    'Something broke, or the API key is no longer valid; the stream ends.',
    ErrorResponse,
  ),
])

/** Endpoint 7: the states of a request, as Server-Sent Events until it is finished. */
export function statusStreamRoute(app: FastifyInstance, deps: StreamDeps): void {
  app.get<RequestRoute & { Querystring: StreamQuery }>(
    '/v1/queue/requests/:request_id/status/stream',
    {
      config: { scope: 'audio:separate' },
      exposeHeadRoute: false,
      schema: {
        operationId: 'streamStatus',
        summary: 'Follow the status of a request',
        description: 'Server-Sent Events until the request is finished or the window ends.',
        tags: ['queue'],
        querystring: {
          type: 'object',
          properties: {
            logs: logsParameter,
            interval: {
              type: 'number',
              minimum: 1,
              maximum: 10,
              default: 2,
              description:
                'At most this many seconds between two events; clamped to the allowed range.',
            },
          },
        },
        response: responses(
          {
            200: {
              description:
                'The events `status`, `timeout` and `error`. The schema describes a single ' +
                'event.',
              content: {
                'text/event-stream': {
                  schema: EVENTS,
                  examples: { stream: { value: STREAM_EXAMPLE } },
                },
              },
            },
          },
          [404],
        ),
      },
    },
    async (request, reply) => {
      const { request_id: requestId } = request.params
      await findOwn(deps, request.accountId, requestId)
      const watch = deps.feed.watch(requestId, request.accountId, request.apiKey)
      onHangUp(reply, () => watch.close())
      return sendEvents(reply, statusEvents(deps, request, watch))
    },
  )
}

export const sendEvents = (reply: FastifyReply, events: AsyncIterable<string>): FastifyReply =>
  reply
    .header('content-type', 'text/event-stream')
    .header('x-accel-buffering', 'no')
    .header('connection', 'close') // else an idle client would delay the shutdown
    .send(Readable.from(events))

async function* statusEvents(deps: StreamDeps, request: StreamRequest, watch: RequestWatch) {
  const {
    apiKey: key,
    params: { request_id: requestId },
    query,
  } = request
  const options = {
    key,
    requestId,
    logs: flagOf(query.logs),
    intervalMs: intervalMsOf(query.interval),
    windowMs: 1_000 * deps.config.streamWindowSeconds,
  }
  try {
    yield OPENING
    for await (const { name, row, logs } of watchStatus(deps, watch, options)) {
      yield eventOf(
        name,
        name === 'status'
          ? await statusOf(deps, row, logs)
          : {
              request_id: requestId,
              status: row.status,
              message: 'The stream window has ended; connect again to go on.',
            },
      )
    }
  } catch (error) {
    const failure = toServiceError(error, request)
    if (failure.status >= 500) {
      request.log.error({ err: error, requestId: request.id }, 'a status stream failed')
    }
    yield eventOf('error', errorBody(failure, requestId))
  }
}

/** A comment line, which makes proxies forward the headers before the first event. */
const OPENING = ': open\n\n'

const eventOf = (name: 'status' | 'timeout' | 'error', data: object): string =>
  `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
