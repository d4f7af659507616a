import { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { localUrl } from '../../shared/local-url.ts'
import { onPort, type Address } from '../../shared/process/on-port.ts'

/**
 * Lets an application listen on its address, or with `fd` on that open socket instead.
 * @returns its URL on this machine
 * @throws StartError when the port is taken
 */
export async function listen(app: FastifyInstance, address: Address, fd: number | undefined) {
  const { host, port } = address
  // Fastify's types lack `fd`; with it, the host is not used.
  const inherited = { fd, host: '0.0.0.0' } as object
  await onPort(address, app.listen(fd === undefined ? { host, port } : inherited))
  const bound = app.server.address() as AddressInfo
  const scheme = app.server instanceof Server ? 'https' : 'http'
  return localUrl(fd === undefined ? host : bound.address, bound.port, scheme)
}
