import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Deps } from '../deps.ts'
import { PLAYGROUND } from './sessions.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wav': 'audio/wav',
}

/** The copies of a file that a browser may take, the smallest first. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const

/** The names of assets carry their hashes. */
const FOR_A_YEAR = 'public, max-age=31536000, immutable'

const hidden = { schema: { hide: true } }

/** The page at `/` as set-up has made it; read once, since it is small. */
export function playgroundRoutes(app: FastifyInstance, { config }: Pick<Deps, 'config'>): void {
  const { playgroundFolder: folder } = config
  const page = readFiles(folder)
  const assets = readFiles(join(folder, 'assets'))
  app.get('/', hidden, async (request, reply) => {
    reply
      .header('content-security-policy', contentSecurityPolicy(config))
      .header('permissions-policy', 'camera=(), geolocation=(), microphone=(self)')
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin')
    const absent = 'The page is not built here: `npm run setup` builds it.'
    return send(page, 'index.html', { request, reply, absent, caching: 'no-cache' })
  })
  app.get<{ Params: { name: string } }>(
    `${PLAYGROUND}/assets/:name`,
    hidden,
    async (request, reply) => {
      const absent = 'There is no such asset.'
      return send(assets, request.params.name, { request, reply, absent, caching: FOR_A_YEAR })
    },
  )
}

type Files = ReadonlyMap<string, Buffer>

/** The files of a folder by name; none where it does not exist. */
function readFiles(folder: string): Files {
  const isThere = (error: unknown) => (error as NodeJS.ErrnoException).code !== 'ENOENT'
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    return new Map(names.map((name) => [name, readFileSync(join(folder, name))]))
  } catch (error) {
    if (isThere(error)) throw error
    return new Map()
  }
}

interface Sending {
  request: FastifyRequest
  reply: FastifyReply
  /** The message where there is no such file. */
  absent: string
  /** The header `cache-control`. */
  caching: string
}

function send(files: Files, name: string, sending: Sending): FastifyReply {
  const { request, reply, absent, caching } = sending
  const type = TYPES[extname(name)]
  const plain = files.get(name)
  if (!plain || type === undefined) throw new ServiceError('NOT_FOUND', { message: absent })
  const accepted = String(request.headers['accept-encoding'] ?? '')
  const [encoding, suffix] =
    Object.entries(ENCODINGS).find(
      ([encoding, suffix]) =>
        new RegExp(`\\b${encoding}\\b`).test(accepted) && files.has(name + suffix),
    ) ?? []
  reply.header('cache-control', caching).header('vary', 'accept-encoding').type(type)
  if (suffix === undefined) return reply.send(plain)
  return reply.header('content-encoding', encoding).send(files.get(name + suffix))
}

/**
 * Scripts of ours alone, and connections to this service and where its media lies. Styles may be
 * inline: the drawing of waveforms sets them.
 */
function contentSecurityPolicy({ publicUrl, mediaOrigins }: Deps['config']): string {
  const media = ["'self'", new URL(publicUrl()).origin, ...mediaOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    `media-src ${media} blob:`,
    `connect-src ${media}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
