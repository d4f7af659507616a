import { Type, type Static } from 'typebox'
import type { FastifyInstance } from 'fastify'
import { HOUR_MS } from '../../shared/durations.ts'
import { ServiceError } from '../../shared/errors.ts'
import { responses } from '../api/openapi.ts'
import { findOwn, type ResultDeps } from '../requests/own-requests.ts'
import type { RequestFeed } from '../requests/follow/request-feed.ts'
import { livePartKey } from '../media-store/keys.ts'
import { type RequestRoute } from './common.ts'

export const LivePreview = Type.Object(
  {
    attempt: Type.String({
      description:
        'Who made the parts. If this changes, the media is separated again from its start, and ' +
        'the parts of before are replaced.',
    }),
    seconds: Type.Number({ description: 'Length of all parts together.' }),
    duration: Type.Number({ description: 'Length of the media in seconds.' }),
    part_urls: Type.Array(Type.String({ format: 'uri' }), {
      description: 'Addresses of the parts, in order, valid for an hour. They need no key.',
    }),
  },
  { title: 'LivePreview' },
)

interface LivePreviewDeps extends ResultDeps {
  feed: Pick<RequestFeed, 'livePreviewOf'>
}

/** Extension: what can be played of a request while the rest is still separated. */
export function livePreviewRoute(app: FastifyInstance, deps: LivePreviewDeps): void {
  app.get<RequestRoute>(
    '/v1/queue/requests/:request_id/live-preview',
    {
      config: { scope: 'audio:separate' },
      schema: {
        operationId: 'getLivePreview',
        summary: 'Get the live preview of a request in progress',
        description:
          'Extension. What is separated so far of a request with `preview`, if its media is ' +
          'longer than a minute. There is more whenever `preview_seconds` of its status has ' +
          'grown. Each part is the length of its JSON (four bytes, little-endian), the JSON of ' +
          'the peaks so far, whose `preview` has the index of this part, and the segments. Once ' +
          'the request has ended this answers 404, and a completed one has `data.preview_url`.',
        tags: ['queue'],
        response: responses({ 200: LivePreview }, [404]),
      },
    },
    async (request): Promise<Static<typeof LivePreview>> => {
      const row = await findOwn(deps, request.accountId, request.params.request_id)
      const { request_id: requestId, status, attempt_id: attempt, duration } = row
      const live = deps.feed.livePreviewOf(requestId, attempt)
      if (status !== 'IN_PROGRESS' || !live || attempt === null || duration === null) {
        throw new ServiceError('NOT_FOUND', {
          message: 'The request has no live preview: nothing of it can be played now.',
        })
      }
      const address = { audience: 'client', expiresAt: deps.clock.now() + HOUR_MS } as const
      const parts = Array.from({ length: live.parts }, (_, part) =>
        deps.mediaStore.downloadUrl({
          ...address,
          key: livePartKey(requestId, part),
          contentType: 'application/octet-stream',
          fileName: 'preview',
        }),
      )
      return { attempt, seconds: live.seconds, duration, part_urls: await Promise.all(parts) }
    },
  )
}
