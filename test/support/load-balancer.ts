/** A load balancer as stands before several gateways: over TCP, in turn, past those that refuse. */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

/** Until the gateways are asked again, when none of them took a connection. */
const RETRY_MS = 50

export interface LoadBalancer {
  url: string
  /** Ports of the gateways, in any order. */
  ports: number[]
}

/** Starts one that listens; connections wait until one of `ports` takes them. */
export async function startLoadBalancer(t: Pick<TestContext, 'after'>): Promise<LoadBalancer> {
  const ports: number[] = []
  const sockets = new Set<Socket>()
  let turn = 0
  const connectAny = async (client: Socket): Promise<Socket> => {
    for (;;) {
      for (const _port of ports) {
        const gateway = connect({ host: '127.0.0.1', port: ports[turn++ % ports.length]! })
        try {
          await once(gateway, 'connect')
          return gateway
        } catch {
          // refused: the next one
        }
      }
      if (client.destroyed) throw new Error('the client is gone')
      await sleep(RETRY_MS)
    }
  }
  const server = createServer({ pauseOnConnect: true }, (client) => {
    sockets.add(client)
    client.once('close', () => sockets.delete(client)).on('error', () => client.destroy())
    connectAny(client).then(
      (gateway) => {
        gateway.on('error', () => client.destroy())
        gateway.once('close', () => client.destroy())
        client.once('close', () => gateway.destroy())
        client.pipe(gateway).pipe(client)
        client.resume()
      },
      () => client.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ports }
}
