/**
 * HTTP requests with Node's own client, each over its own connection. An unread body slows down its
 * sender, so memory stays bounded however slow the disk is.
 */

import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type RequestOptions as NodeOptions } from 'node:https'
import type { LookupFunction, TcpNetConnectOpts } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import type { Tls } from '../process/tls-files.ts'

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Readonly<Record<string, string>>
  /** The stream is destroyed if the request ends before it does. */
  body?: Buffer | Readable
  waits: Waits
  signal: AbortSignal
  /** Without a guard, any address may be connected to. */
  guard?: AddressGuard
  /** What this side shows, and an authority that it trusts beside the public ones. */
  tls?: Tls | undefined
}

/** Timeouts, in milliseconds. */
export interface Waits {
  /** For a connection, including DNS, TCP and TLS. */
  connectMsMax: number
  /** From when everything was sent until the response headers arrive. */
  firstByteMsMax: number
  /** Between two pieces sent or received, not counting back-pressure on this side. */
  silenceMsMax: number
}

/** Which addresses may be connected to. */
export interface AddressGuard {
  /** Resolves all addresses of a name, for the connection itself. */
  lookup: LookupFunction
  /** Returns why the address to which a socket has connected is refused; undefined if it is not. */
  faultOf(address: string): Error | undefined
}

export interface HttpResponse {
  statusCode: number
  headers: IncomingMessage['headers']
  /** Must be read to the end, or destroyed. */
  body: IncomingMessage
}

/**
 * Resolves when the headers of the response have arrived; redirects are not followed.
 * @throws what connecting, sending or the guard throws; an error with the code `ETIMEDOUT`; the
 *   signal's reason once it fires. The body throws the same.
 */
export async function request(url: URL, options: RequestOptions): Promise<HttpResponse> {
  const { signal, guard } = options
  signal.throwIfAborted()
  const isTls = url.protocol === 'https:'
  const outgoing = open(url, isTls, options)
  return new Promise((resolve, reject) => {
    let body: IncomingMessage | undefined
    const end = (error: Error) => void (body ?? outgoing).destroy(error)
    const abort = () => end(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    if (guard) guardConnection(outgoing, guard)
    limitWaits(outgoing, isTls, options.waits, end)
    outgoing.on('error', reject) // a later error is thrown by the body
    outgoing.once('close', () => signal.removeEventListener('abort', abort))
    outgoing.once('response', (response) => {
      body = response
      resolve({ statusCode: response.statusCode ?? 0, headers: response.headers, body })
    })
    send(outgoing, options.body)
  })
}

function open(
  url: URL,
  isTls: boolean,
  { method = 'GET', headers = {}, guard, tls }: RequestOptions,
): ClientRequest {
  // autoSelectFamily makes Node look up all addresses, so one bad address rejects the name.
  const options: NodeOptions & Pick<TcpNetConnectOpts, 'autoSelectFamily'> = {
    method,
    headers,
    agent: false,
    autoSelectFamily: true,
    ...(guard && { lookup: guard.lookup }),
    ...tls,
    ...(tls?.ca && { ca: [...rootCertificates, tls.ca] }),
  }
  return isTls ? httpsRequest(url, options) : httpRequest(url, options)
}

/** Checks the connected address before any byte is sent to it, including TLS. */
function guardConnection(outgoing: ClientRequest, { faultOf }: AddressGuard): void {
  outgoing.once('socket', (socket) => {
    socket.prependOnceListener('connect', () => {
      const fault = faultOf(socket.remoteAddress ?? '')
      if (fault) socket.destroy(fault)
    })
  })
}

/** Calls `end` if a stage of the request, or a pause within it, takes too long. */
function limitWaits(
  outgoing: ClientRequest,
  isTls: boolean,
  waits: Waits,
  end: (error: Error) => void,
): void {
  const giveUp = () => end(Object.assign(new Error('no response in time'), { code: 'ETIMEDOUT' }))
  let timer = setTimeout(giveUp, waits.connectMsMax)
  const stop = () => clearTimeout(timer)
  outgoing.once('socket', (socket) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      stop()
      socket.setTimeout(waits.silenceMsMax)
    })
    socket.on('timeout', () => {
      if (socket.isPaused())
        socket.setTimeout(waits.silenceMsMax) // without a reader it may be full
      else giveUp()
    })
  })
  const waitForHead = () => {
    timer = setTimeout(giveUp, waits.firstByteMsMax)
  }
  outgoing.once('finish', waitForHead)
  outgoing.once('response', () => {
    outgoing.off('finish', waitForHead) // it may come while the request is still being sent
    stop()
  })
  outgoing.once('close', stop)
}

function send(outgoing: ClientRequest, body: Buffer | Readable | undefined): void {
  if (body === undefined || Buffer.isBuffer(body)) outgoing.end(body)
  else pipeline(body, outgoing, () => undefined) // the request reports the failure
}

/** Whether the status is transient, so that the same request may succeed later. */
export const isTemporaryStatus = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429
