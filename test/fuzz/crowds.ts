/**
 * Crowds of clients that hold what a server has little of: connections, heads, bodies, streams. While
 * each crowd is there others submit: all of them are served, and the gateway's memory is bounded.
 */

import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createScope } from '../support/scope.ts'
import { API_KEY, startTarget, type Target } from './target.ts'

export interface CrowdOptions {
  /** Clients of each crowd. */
  clients: number
  /** Submits of others while it is there. */
  submits: number
  onCrowd?(report: CrowdReport): void
}

export interface CrowdReport {
  crowd: string
  clients: number
  /** Those whose connection the gateway had not closed by the end. */
  still_open: number
  submit_ms: { p50: number; p99: number; most: number }
  /** Of the gateway, in MiB: before, and the most while the crowd was there. */
  rss_mib: { before: number; most: number }
}

const SUBMIT_EVERY_MS = 20
/** Opened together, so that the queue of connections that wait is not full. */
const OPENED_AT_ONCE = 100
const TRICKLE_MS = 250
const HEAD_BYTES = 15_000
/** Of one account, and of one connection of HTTP/2. */
const STREAMS_MAX = 1_000
const CALLS_OF_SESSION = 100

/** Opens `clients` of them; resolves with what closes them and counts those that are open. */
type Crowd = (target: Target, clients: number) => Promise<{ open(): number; close(): void }>

const headOf = (...lines: string[]): string => [...lines, '', ''].join('\r\n')
const AUTHORIZATION = `Authorization: Bearer ${API_KEY}`

const CROWDS: Readonly<Record<string, Crowd>> = {
  nobody: (target) => sockets(target, 0),
  'idle connections': (target, clients) => sockets(target, clients),
  'slow heads': (target, clients) =>
    sockets(target, clients, { first: 'GET / HTTP/1.1\r\nHost: x\r\nX: ', trickle: 'a' }),
  'slow bodies': (target, clients) =>
    sockets(target, clients, {
      first: headOf(
        'POST /v1/queue/audio/separate HTTP/1.1',
        'Host: x',
        AUTHORIZATION,
        'Content-Type: application/json',
        'Content-Length: 50000',
      ),
      trickle: ' ',
    }),
  'huge heads': (target, clients) =>
    sockets(target, clients, {
      first: `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(HEAD_BYTES)}`,
    }),
  'streams that nobody reads': async (target, clients) => {
    const { request_id: id } = await submit(target)
    const path = `/v1/queue/requests/${id}/status/stream?interval=1&logs=true`
    const first = headOf(`GET ${path} HTTP/1.1`, 'Host: x', AUTHORIZATION)
    return sockets(target, Math.min(clients, STREAMS_MAX), { first, isUnread: true })
  },
  'gRPC streams without a window': stalledWatches,
}

/** @throws AssertionError when a submit fails, or the gateway ends or grows beyond its bound */
export async function fuzzCrowds({
  clients,
  submits,
  onCrowd,
}: CrowdOptions): Promise<CrowdReport[]> {
  const scope = createScope()
  const reports: CrowdReport[] = []
  try {
    const target = await startTarget(scope)
    for (const [name, crowd] of Object.entries(CROWDS)) {
      const report = await measure(target, { name, crowd, clients, submits })
      reports.push(report)
      onCrowd?.(report)
    }
    return reports
  } finally {
    await scope.end()
  }
}

async function measure(
  target: Target,
  {
    name,
    crowd,
    clients,
    submits,
  }: { name: string; crowd: Crowd; clients: number; submits: number },
): Promise<CrowdReport> {
  const before = target.rss()
  const { open, close } = await crowd(target, clients)
  const ms: number[] = []
  let most = target.rss()
  for (let i = 0; i < submits; i += 1) {
    const startedAt = performance.now()
    await submit(target)
    ms.push(performance.now() - startedAt)
    most = Math.max(most, target.rss())
    await sleep(SUBMIT_EVERY_MS)
  }
  await target.assertServes()
  const stillOpen = open()
  close()
  ms.sort((a, b) => a - b)
  const quantile = (share: number) => Math.round(10 * ms[Math.floor(share * (ms.length - 1))]!) / 10
  const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20)
  return {
    crowd: name,
    clients,
    still_open: stillOpen,
    submit_ms: { p50: quantile(0.5), p99: quantile(0.99), most: quantile(1) },
    rss_mib: { before: mebibytes(before), most: mebibytes(most) },
  }
}

async function submit({ winnow, fileId }: Target): Promise<{ request_id: string }> {
  const reply = await fetch(`${winnow.url}/v1/queue/audio/separate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: { prompt: 'a bell', file_id: fileId } }),
  })
  assert.equal(reply.status, 202)
  return (await reply.json()) as { request_id: string }
}

interface SocketOptions {
  /** Sent at once. */
  first?: string
  /** Sent every quarter of a second. */
  trickle?: string
  /** Nothing that comes is read. */
  isUnread?: boolean
}

async function sockets(
  { port }: Target,
  clients: number,
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
  const timer = setInterval(() => {
    if (trickle === undefined) return
    for (const socket of all) if (socket.writable) socket.write(trickle)
  }, TRICKLE_MS)
  return {
    open: () => all.filter((socket) => !socket.closed && socket.readyState === 'open').length,
    close() {
      clearInterval(timer)
      for (const socket of all) socket.destroy()
    },
  }
}

/** Watches whose clients never allow a byte of an answer. */
async function stalledWatches(target: Target, clients: number) {
  const { request_id: id } = await submit(target)
  const field = Buffer.concat([Buffer.from([0x0a, id.length]), Buffer.from(id)])
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, field.length]), field])
  const calls = Math.min(clients, STREAMS_MAX)
  const sessions = Array.from({ length: Math.ceil(calls / CALLS_OF_SESSION) }, () => {
    const session = connectHttp2(`http://127.0.0.1:${target.grpcPort}`, {
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
  return {
    open: () => sessions.filter((session) => !session.destroyed).length * CALLS_OF_SESSION,
    close: () => sessions.forEach((session) => session.destroy()),
  }
}
