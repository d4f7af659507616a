import { isIP } from 'node:net'

/** Returns `host:port`, with IPv6 addresses in brackets. */
export const hostAndPort = (host: string, port: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Returns addresses that work on this machine for a server listening on `host` and `port`. */
export function localUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  return `http://${hostAndPort(everywhere ? '127.0.0.1' : host, port)}`
}
