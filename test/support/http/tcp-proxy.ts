/**
 * A proxy over TCP that stands before one process, or as a load balancer before several: it connects
 * to them in turn, past those that refuse. A test may delay, hold, cut or half-open its connections.
 */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

/** Until the processes are asked again, when none of them took a connection. */
const RETRY_MS = 50

export interface TcpProxy {
  port: number
  /** `http://` and its address. */
  url: string
  /** Ports of the processes behind it, in any order; may be changed. */
  ports: number[]
  /** From now on all bytes come so much later; 0 undoes it. */
  delay(ms: number): void
  /** From now on no byte passes, in either direction; `release` undoes it. */
  hold(): void
  release(): void
  /** Closes all connections at once; new ones are refused until `accept`. */
  cut(): void
  accept(): void
  /**
   * Closes one end of every connection, and never tells the other: it stays open there, and bytes
   * sent into it are lost. New connections work.
   */
  halfOpen(closed: 'client' | 'server'): void
}

interface Pair {
  client: Socket
  server?: Socket
}

/** Starts one that listens on loopback; connections wait until one of `ports` takes them. */
export async function startTcpProxy(
  t: Pick<TestContext, 'after'>,
  ports: number[] = [],
): Promise<TcpProxy> {
  const pairs = new Set<Pair>()
  const abandoned = new Set<Socket>()
  const traffic = new Traffic()
  let isRefusing = false
  const connectAny = roundRobin(ports)
  const server = createServer({ pauseOnConnect: true }, (client) => {
    client.on('error', () => client.destroy())
    if (isRefusing) return void client.destroy()
    const pair: Pair = { client }
    pairs.add(pair)
    client.once('close', () => pairs.delete(pair))
    connectAny(client).then(
      (connected) => {
        pair.server = connected
        join(pair, connected, traffic)
      },
      () => client.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const closeAll = () => {
    for (const { client, server } of pairs) for (const socket of [client, server]) socket?.destroy()
    for (const socket of abandoned) socket.destroy()
  }
  t.after(() => {
    server.close()
    closeAll()
    traffic.release()
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    ports,
    delay: (ms) => void (traffic.delayMs = ms),
    hold: () => traffic.hold(),
    release: () => traffic.release(),
    cut() {
      isRefusing = true
      closeAll()
    },
    accept: () => void (isRefusing = false),
    halfOpen(closed) {
      for (const pair of pairs) {
        if (!pair.server) continue
        const left = abandon(pair.client, pair.server, closed)
        abandoned.add(left)
        left.once('close', () => abandoned.delete(left))
        pairs.delete(pair)
      }
    },
  }
}

/** Connects to the next of the ports that takes a connection, as long as the client waits. */
function roundRobin(ports: readonly number[]) {
  let turn = 0
  return async (client: Socket): Promise<Socket> => {
    for (;;) {
      for (const _port of ports) {
        const server = connect({ host: '127.0.0.1', port: ports[turn++ % ports.length]! })
        try {
          await once(server, 'connect')
          return server
        } catch {
          // refused: the next one
        }
      }
      if (client.destroyed) throw new Error('the client is gone')
      await sleep(RETRY_MS)
    }
  }
}

/** From now on what one of them sends reaches the other, and both close together. */
function join({ client }: Pair, server: Socket, traffic: Traffic): void {
  server.on('error', () => client.destroy())
  server.once('close', () => client.destroy())
  client.once('close', () => server.destroy())
  client.pipe(traffic.way()).pipe(server)
  server.pipe(traffic.way()).pipe(client)
}

/** Closes one of two joined sockets; returns the other, which it leaves in silence. */
function abandon(client: Socket, server: Socket, closed: 'client' | 'server'): Socket {
  const [gone, left] = closed === 'client' ? [client, server] : [server, client]
  for (const socket of [client, server]) {
    socket.unpipe()
    socket.removeAllListeners('close')
  }
  gone.destroy()
  return left.resume() // what it sends is lost
}

/** Carries the bytes of all connections. */
class Traffic {
  delayMs = 0
  #held: Promise<void> | null = null
  #release: () => void = () => undefined

  hold(): void {
    this.#held ??= new Promise((resolve) => (this.#release = resolve))
  }

  release(): void {
    this.#held = null
    this.#release()
  }

  /** One direction of one connection. */
  way(): Transform {
    return new Transform({
      transform: (piece: Buffer, _encoding, done) => {
        void this.#pass().then(() => done(null, piece))
      },
      flush: (done) => void this.#pass().then(() => done()),
    })
  }

  async #pass(): Promise<void> {
    while (this.#held) await this.#held
    if (this.delayMs > 0) await sleep(this.delayMs)
  }
}
