/**
 * Runs a crowd in its own process, so that its work delays no other client. Opens the connections that
 * the first message asks for; once they are open, and after each further message, it sends back how
 * many still are.
 */

import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { API_KEY } from '../support/processes/start-winnow.ts'
import type { CrowdOrder } from './crowds-order.ts'

/** Connections opened at once; more could overflow the gateway's backlog. */
const OPENED_AT_ONCE = 100
const TRICKLE_MS = 1_000
const HEAD_BYTES = 15_000
/** Limits on streams: per account, and per HTTP/2 connection. */
const STREAMS_MAX = 1_000
const CALLS_OF_SESSION = 100

const headOf = (...lines: string[]): string => [...lines, '', ''].join('\r\n')
const AUTHORIZATION = `Authorization: Bearer ${API_KEY}`
const SUBMIT = 'POST /v1/queue/audio/separate HTTP/1.1'
const JSON_TYPE = 'Content-Type: application/json'

/** Opens the crowd's connections; resolves with a function that counts those still open. */
function open(order: CrowdOrder): Promise<() => number> {
  const path = `/v1/queue/requests/${order.requestId}/status/stream?interval=1&logs=true`
  switch (order.crowd) {
    case 'nobody':
      return sockets({ ...order, clients: 0 })
    case 'idle connections':
      return sockets(order)
    case 'slow heads':
      return sockets(order, { first: 'GET / HTTP/1.1\r\nHost: x\r\nX: ', trickle: 'a' })
    case 'slow bodies': {
      const head = headOf(SUBMIT, 'Host: x', AUTHORIZATION, JSON_TYPE, 'Content-Length: 50000')
      return sockets(order, { first: head, trickle: ' ' })
    }
    case 'huge heads':
      return sockets(order, { first: `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(HEAD_BYTES)}` })
    case 'streams that nobody reads': {
      const first = headOf(`GET ${path} HTTP/1.1`, 'Host: x', AUTHORIZATION)
      const clients = Math.min(order.clients, STREAMS_MAX)
      return sockets({ ...order, clients }, { first, isUnread: true })
    }
    case 'gRPC streams without a window':
      return stalledWatches(order)
  }
}

interface SocketOptions {
  /** Sent as soon as the connection opens. */
  first?: string
  /** Sent every second. */
  trickle?: string
  /** Whether to leave whatever arrives unread. */
  isUnread?: boolean
}

async function sockets(
  { port, clients }: Pick<CrowdOrder, 'port' | 'clients'>,
  { first, trickle, isUnread = false }: SocketOptions = {},
) {
  const all: Socket[] = []
  for (let i = 0; i < clients; i += OPENED_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, clients - i) }, () => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => undefined)
      if (!isUnread) socket.resume()
      return new Promise<Socket>((resolve) => {
        socket.once('connect', () => resolve(socket)).once('close', () => resolve(socket))
        if (first !== undefined) socket.write(first)
      })
    })
    all.push(...(await Promise.all(some)))
  }
  setInterval(() => {
    if (trickle === undefined) return
    for (const socket of all) if (socket.writable) socket.write(trickle)
  }, TRICKLE_MS)
  return () => all.filter((socket) => socket.readyState === 'open').length
}

/** Opens Watch calls whose flow-control window stays at zero, so no byte of an answer can be sent. */
async function stalledWatches({ grpcPort, clients, requestId: id }: CrowdOrder) {
  const field = Buffer.concat([Buffer.from([0x0a, id.length]), Buffer.from(id)])
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, field.length]), field])
  const calls = Math.min(clients, STREAMS_MAX)
  const sessions = Array.from({ length: Math.ceil(calls / CALLS_OF_SESSION) }, () => {
    const session = connectHttp2(`http://127.0.0.1:${grpcPort}`, {
      settings: { initialWindowSize: 0 },
    })
    return session.on('error', () => undefined)
  })
  for (let i = 0; i < calls; i += 1) {
    const stream = sessions[Math.floor(i / CALLS_OF_SESSION)]!.request({
      ':method': 'POST',
      ':path': '/winnow.separation.v1.SeparationService/Watch',
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.on('error', () => undefined)
    stream.end(message)
  }
  return () => sessions.filter((session) => !session.destroyed).length * CALLS_OF_SESSION
}

let crowdOpened: Promise<() => number> | undefined
process.on('message', (message: CrowdOrder | 'count') => {
  if (message !== 'count') crowdOpened = open(message)
  void crowdOpened?.then((count) => process.send?.(count()))
})
process.on('disconnect', () => process.exit())
