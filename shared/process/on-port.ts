/** Names the setting that would let a server listen if it cannot. */

import { hostAndPort } from '../local-url.ts'
import { StartError } from './lifecycle.ts'

export interface Address {
  host: string
  port: number
  /** Prefix of the names of its settings, before `HOST` and `PORT`. */
  prefix: '' | 'GRPC_' | 'METRICS_' | 'ADMIN_' | 'CONTROL_'
}

/**
 * Awaits `listening` on the address.
 * @throws StartError if the port is in use, or this machine does not have the address
 */
export async function onPort<T>(
  { host, port, prefix }: Address,
  listening: Promise<T>,
): Promise<T> {
  try {
    return await listening
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = code ?? /\bE[A-Z]{4,}\b/.exec(message)?.[0] ?? '' // gRPC has it in its text
    throw new StartError(problemOf(reason, { host, port, prefix }) ?? `${prefix}PORT: ${message}`, {
      cause,
    })
  }
}

function problemOf(code: string, { host, port, prefix }: Address): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return (
        `${prefix}PORT: another program listens at ${hostAndPort(host, port)}. End it, or set ` +
        `${prefix}PORT to another port.`
      )
    case 'EACCES':
      return (
        `${prefix}PORT: this user may not listen at ${hostAndPort(host, port)}. Set ` +
        `${prefix}PORT to a port from 1024 on.`
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return (
        `${prefix}HOST: this machine has no address ${host}. Set ${prefix}HOST to one that it ` +
        'has, or to 0.0.0.0 for all.'
      )
  }
  return undefined
}
