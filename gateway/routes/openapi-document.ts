import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { buildOpenApi, responses } from '../api/openapi.ts'
import { chooseCopy, typeOf } from './page.ts'
import type { Settings } from '../config.ts'

const NAME = 'openapi.json'

/** Endpoint 1: the API description. It is compressed once, and an ETag tells its version. */
export function openApiRoute(
  app: FastifyInstance,
  { config }: { config: Settings<'publicUrl'> },
): void {
  let document: ReturnType<typeof makeCopies> | undefined
  app.get(
    `/v1/${NAME}`,
    {
      schema: {
        operationId: 'getOpenApi',
        summary: 'This description',
        description: 'OpenAPI 3.1, version 1.0.0. Needs no key.',
        tags: ['description'],
        security: [],
        response: responses({ 200: { type: 'object', description: 'OpenAPI 3.1' } }),
      },
    },
    async (request, reply) => {
      const servers = [{ url: config.publicUrl() }]
      const { copies, etag } = await (document ??= makeCopies({ servers, ...buildOpenApi(app) }))
      const copy = chooseCopy(NAME, (name) => copies.has(name), { request, reply })
      reply.header('cache-control', 'no-cache').header('etag', etag)
      if (isNamed(etag, request.headers['if-none-match'])) {
        return reply.removeHeader('content-encoding').status(304).send()
      }
      return reply.type(typeOf(NAME)!).send(copies.get(copy))
    },
  )
}

async function makeCopies(description: object) {
  const document = Buffer.from(JSON.stringify(description))
  const compressed = await promisify(gzip)(document)
  const hash = createHash('sha256').update(document).digest('base64url').slice(0, 22)
  return {
    copies: new Map([
      [NAME, document],
      [`${NAME}.gz`, compressed],
    ]),
    etag: `W/"${hash}"`, // weak: the same for both copies
  }
}

/** Returns whether a header `If-None-Match` names the tag, however its sender writes it. */
const isNamed = (etag: string, header = ''): boolean =>
  header.split(',').some((tag) => ['*', etag, etag.slice(2)].includes(tag.trim()))
