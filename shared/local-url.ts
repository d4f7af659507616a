import { isIP } from 'node:net'

/** Returns `host:port`, with IPv6 addresses in brackets. */
export const hostAndPort = (host: string, port: number): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

/** Returns addresses that work on this machine for a server listening on `host` and `port`. */
export const localUrl = (host: string, port: number, scheme = 'http'): string =>
  `${scheme}://${hostAndPort(isEverywhere(host) ? '127.0.0.1' : host, port)}`

/** Whether a server that listens on this host does so on every address of the machine. */
export const isEverywhere = (host: string): boolean => host === '0.0.0.0' || host === '::'
