/** Media types, compressed copies and security headers of the gateway's pages. */

import { extname } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Settings } from '../config.ts'

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

/** The compressed copies of a file that a browser may accept, smallest first. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const

/**
 * Returns the media type of a file, or undefined for files that are not served by name, such as
 * compressed copies.
 */
export const typeOf = (name: string): string | undefined => TYPES[extname(name)]

/**
 * Chooses the smallest copy of a file that the browser accepts, sets its headers, and returns its
 * name.
 */
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
export type PageAddresses = Settings<'publicUrl' | 'mediaOrigins'>

/**
 * Sets the headers of a document, so that no other page can frame it, watch it or learn its
 * address.
 * @param scripts the directives for scripts in its policy
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
 * Allows only our own scripts, and connections to this service and to where its media is. Styles
 * may be inline, because waveforms, diagrams and the API reference set them.
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
