import { isIP } from 'node:net'

/** Addresses that work on this machine, for a server that listens on `host` and `port`. */
export function localUrl(host: string, port: number): string {
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = everywhere ? '127.0.0.1' : isIP(host) === 6 ? `[${host}]` : host
  return `http://${name}:${port}`
}
