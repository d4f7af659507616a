/** How a gRPC server gets its connections: from an address, or from an open socket. */

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import * as grpc from '@grpc/grpc-js'
import { hostAndPort } from '../../shared/local-url.ts'
import { onPort } from '../../shared/process/on-port.ts'

export interface GrpcListener {
  address: string
  /** Accepts no further connection; for what tryShutdown does not end. */
  close(): void
}

interface Place {
  host: string
  port: number
  credentials: grpc.ServerCredentials
}

/**
 * Listens on an address.
 * @throws StartError when the port is taken
 */
export async function bind(
  server: grpc.Server,
  { host, port, credentials }: Place,
): Promise<GrpcListener> {
  const binding = new Promise<number>((resolve, reject) => {
    server.bindAsync(hostAndPort(host, port), credentials, (error, boundPort) =>
      error ? reject(error) : resolve(boundPort),
    )
  })
  const bound = await onPort({ host, port, prefix: 'GRPC_' }, binding)
  return { address: hostAndPort(host, bound), close() {} }
}

/**
 * Accepts the connections of an open socket and hands them to the library, which can only bind
 * addresses.
 */
export async function adopt(
  server: grpc.Server,
  fd: number,
  credentials: grpc.ServerCredentials,
): Promise<GrpcListener> {
  const injector = server.createConnectionInjector(credentials)
  const listener = createServer((connection) => injector.injectConnection(connection))
  listener.listen({ fd })
  await once(listener, 'listening')
  const { address, port } = listener.address() as AddressInfo
  return { address: hostAndPort(address, port), close: () => void listener.close() }
}
