/**
 * A TCP proxy in front of one process, or, like a load balancer, in front of several, to which it
 * connects in turn, skipping those that refuse. A test can delay, hold, cut or half-open its
 * connections.
 */

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

/** Pause before the next round when no process accepted a connection. */
const RETRY_MS = 50

export interface TcpProxy {
  port: number
  /** The proxy's address, with `http://`. */
  url: string
  /** Ports of the processes behind the proxy, in any order; may be changed. */
  ports: number[]
  /** Delays all bytes from now on; 0 undoes it. */
  delay(ms: number): void
  /** Holds all bytes in both directions from now on; `release` undoes it. */
  hold(): void
  release(): void
  /** Closes all connections at once; new ones are refused until `accept`. */
  cut(): void
  accept(): void
  /**
   * Closes one end of every connection without notifying the other, which stays open while the
   * bytes sent into it are lost. New connections work.
   */
  halfOpen(closed: 'client' | 'server'): void
}

interface Pair {
  client: Socket
  server?: Socket
}

/** Starts a proxy on loopback; connections wait until one of `ports` accepts. */
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

/** Connects to the next port that accepts, for as long as the client waits. */
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
          // refused: try the next one
        }
      }
      if (client.destroyed) throw new Error('the client is gone')
      await sleep(RETRY_MS)
    }
  }
}

/** Passes all bytes between two sockets, and closes both together. */
function join({ client }: Pair, server: Socket, traffic: Traffic): void {
  server.on('error', () => client.destroy())
  server.once('close', () => client.destroy())
  client.once('close', () => server.destroy())
  client.pipe(traffic.way()).pipe(server)
  server.pipe(traffic.way()).pipe(client)
}

/** Closes one of two joined sockets without notifying the other, which it returns. */
function abandon(client: Socket, server: Socket, closed: 'client' | 'server'): Socket {
  const [closedSocket, openSocket] = closed === 'client' ? [client, server] : [server, client]
  for (const socket of [client, server]) {
    socket.unpipe()
    socket.removeAllListeners('close')
  }
  closedSocket.destroy()
  return openSocket.resume() // discards whatever it still sends
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

  /** Returns a stream for one direction of one connection. */
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
