/** Common parts of the gateway's pages: types, compressed copies, their policy. */

import { extname } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PublicAddress } from '../requests/present/presenter.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml; charset=utf-8',
}

/** The copies of a file that a browser may take, the smallest first. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const

/** The media type of a file; undefined for what is no part of a page, as are compressed copies. */
export const typeOf = (name: string): string | undefined => TYPES[extname(name)]

/** Sets the headers of a file's smallest copy that the browser takes; answers its name. */
export function chooseCopy(
  name: string,
  has: (name: string) => boolean,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): string {
  const accepted = String(request.headers['accept-encoding'] ?? '')
  const others = [reply.getHeader('vary') ?? []].flat()
  reply.header('vary', [...others, 'accept-encoding'].join(', '))
  for (const [encoding, suffix] of Object.entries(ENCODINGS)) {
    if (!new RegExp(`\\b${encoding}\\b`).test(accepted) || !has(name + suffix)) continue
    reply.header('content-encoding', encoding)
    return name + suffix
  }
  return name
}

/** The addresses that a page may connect to. */
export interface PageAddresses extends PublicAddress {
  /** Origins that browsers get media from, if not here. */
  mediaOrigins: readonly string[]
}

/**
 * The headers of a document, which no other page may frame, watch or know the address of.
 * @param scripts the directives of its policy for scripts
 */
export function protectPage(
  reply: FastifyReply,
  addresses: PageAddresses,
  scripts: readonly string[] = ["script-src 'self'"],
): FastifyReply {
  return reply
    .header('content-security-policy', contentSecurityPolicy(addresses, scripts))
    .header('permissions-policy', 'camera=(), geolocation=(), microphone=(self)')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
}

/**
 * Scripts of ours alone, and connections to this service and where its media lies. Styles may be
 * inline: the drawing of waveforms, diagrams and the API reference set them.
 */
function contentSecurityPolicy(
  { publicUrl, mediaOrigins }: PageAddresses,
  scripts: readonly string[],
): string {
  const media = ["'self'", new URL(publicUrl()).origin, ...mediaOrigins].join(' ')
  return [
    "default-src 'none'",
    ...scripts,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    `media-src ${media} blob:`,
    `connect-src ${media}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
