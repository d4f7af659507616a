/**
 * Sends raw bytes to the gRPC port: HTTP/2 frames that are damaged, out of order or too many, and
 * gRPC messages that contradict their head.
 */

import assert from 'node:assert/strict'
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect } from 'node:net'
import { fc } from '../support/basics/property.ts'
import { fuzzGateway } from './fuzz-gateway.ts'
import { mutate, mutation } from './mutations.ts'
import type { FuzzOptions, FuzzResult } from './result.ts'
import { API_KEY, type Target } from './target.ts'

/** How long to listen: the gateway keeps idle connections open, so the client hangs up itself. */
const LISTEN_MS = 40
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const SERVICE = '/winnow.separation.v1.SeparationService'
const TYPES = {
  data: 0,
  headers: 1,
  rst: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
}
const FLOOD = 3_000
/** The status of an unexpected error; for a message that can't be parsed, the library says INTERNAL. */
const UNKNOWN = '2'

/** Encodes an HTTP/2 frame (RFC 9113, 4.1). */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const SETTINGS = frame(TYPES.settings, 0, 0, Buffer.alloc(0))
const NONE = Buffer.alloc(0)
/** HPACK: `:method: POST` and `:scheme: http` by index, `:path` as a literal. */
const HEADS = Buffer.concat([
  Buffer.from([0x83, 0x86, 0x44, SERVICE.length + 4]),
  Buffer.from(`${SERVICE}/Get`),
])
const HEADERS = frame(TYPES.headers, 4, 1, HEADS)
const WHOLE = Buffer.concat([
  PREFACE,
  SETTINGS,
  HEADERS,
  frame(TYPES.data, 1, 1, Buffer.from([0, 0, 0, 0, 0])),
])

const anyFrame = fc
  .record({
    type: fc.oneof({ weight: 5, arbitrary: fc.nat(9) }, fc.nat(255)),
    flags: fc.oneof(fc.constantFrom(0, 1, 4, 5, 8, 0x20), fc.nat(255)),
    stream: fc.oneof(fc.constantFrom(0, 1, 2, 3, 0x7fffffff, 0xffffffff), fc.nat(0x7fffffff)),
    payload: fc.uint8Array({ maxLength: 64 }),
  })
  .map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload))

const repeated = (bytes: Uint8Array, times = FLOOD): Buffer =>
  Buffer.concat(Array<Uint8Array>(times).fill(bytes))

/** Many small frames, which cost the server more than the sender. */
const FLOODS: Readonly<Record<string, Buffer>> = {
  settings: repeated(SETTINGS),
  pings: repeated(frame(TYPES.ping, 0, 0, Buffer.alloc(8))),
  'empty data': Buffer.concat([HEADERS, repeated(frame(TYPES.data, 0, 1, NONE))]),
  'window updates': repeated(
    frame(TYPES.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff])),
  ),
  continuations: Buffer.concat([
    frame(TYPES.headers, 0, 1, HEADS),
    repeated(frame(TYPES.continuation, 0, 1, Buffer.from([0x40, 1, 0x61, 1, 0x62]))),
  ]),
  resets: Buffer.concat(
    Array.from({ length: FLOOD }, (_, i) => [
      frame(TYPES.headers, 4, 2 * i + 1, HEADS),
      frame(TYPES.rst, 0, 2 * i + 1, Buffer.from([0, 0, 0, 8])),
    ]).flat(),
  ),
}

type Case = (target: Target) => Promise<string>

const named = (name: string, run: Case): Case =>
  Object.assign(run, { [fc.toStringMethod]: () => name })

const bytesCase = (kind: string, bytes: Buffer): Case =>
  named(`${kind}: ${bytes.subarray(0, 200).toString('hex')}`, async (target) => {
    await send(bytes, target.grpcPort)
    return kind
  })

const damaged = fc
  .array(mutation, { minLength: 1, maxLength: 5 })
  .map((mutations) => bytesCase('damaged', mutate(WHOLE, mutations)))
const frames = fc
  .array(anyFrame, { minLength: 1, maxLength: 30 })
  .map((each) => bytesCase('any frames', Buffer.concat([PREFACE, SETTINGS, ...each])))
const floods = fc
  .constantFrom(...Object.keys(FLOODS))
  .map((name) => bytesCase(`flood of ${name}`, Buffer.concat([PREFACE, SETTINGS, FLOODS[name]!])))

/** Messages whose head states a wrong length or encoding, or whose body is not a message at all. */
const messages = fc
  .record({
    method: fc.constantFrom('Submit', 'Get', 'Watch', 'Cancel', 'List', 'Nothing'),
    compressed: fc.constantFrom(0, 0, 1, 7),
    stated: fc.option(fc.constantFrom(0, 1, 70_000, 2 ** 31, 2 ** 32 - 1), { nil: undefined }),
    body: fc.uint8Array({ maxLength: 200 }),
    ends: fc.boolean(),
  })
  .map(({ method, compressed, stated, body, ends }) =>
    named(`${method} ${compressed} ${stated} ${Buffer.from(body).toString('hex')}`, (target) => {
      const head = Buffer.alloc(5)
      head.writeUInt8(compressed)
      head.writeUInt32BE(stated ?? body.length, 1)
      return call(target, method, Buffer.concat([head, body]), ends)
    }),
  )

const ANY = fc.oneof(
  { weight: 4, arbitrary: damaged },
  { weight: 4, arbitrary: frames },
  { weight: 1, arbitrary: floods },
  { weight: 4, arbitrary: messages },
)

/** Sends the bytes, listens for a while and hangs up. */
function send(bytes: Uint8Array, port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    const timer = setTimeout(() => socket.destroy(), LISTEN_MS)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.write(bytes)
  })
}

/** Returns how the call ended: with a gRPC status, closed without one, or given up by the client. */
async function call(
  { grpcPort }: Target,
  method: string,
  body: Buffer,
  ends: boolean,
): Promise<string> {
  const session = connectHttp2(`http://127.0.0.1:${grpcPort}`)
  session.on('error', () => undefined)
  try {
    const status = await statusOf(session, method, { body, ends })
    assert.notEqual(status, UNKNOWN)
    return `message: ${status}`
  } finally {
    session.destroy()
  }
}

function statusOf(
  session: ClientHttp2Session,
  method: string,
  { body, ends }: { body: Buffer; ends: boolean },
): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': `${SERVICE}/${method}`,
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const note = (headers: IncomingHttpHeaders) => {
      const status = headers['grpc-status']
      if (typeof status === 'string') resolve(status)
    }
    stream.on('response', note).on('trailers', note)
    stream.on('error', () => undefined).resume()
    stream.once('close', () => resolve('closed'))
    if (!ends) setTimeout(() => resolve('given up'), LISTEN_MS)
    stream.write(body)
    if (ends) stream.end()
  })
}

/** @returns the number of cases by outcome; @throws fast-check's error, with its seed */
export const fuzzGrpc = (options: FuzzOptions): Promise<FuzzResult> =>
  fuzzGateway(ANY, options, assertAnswers)

/** Asserts that a correct call is still answered; status 5 is NOT_FOUND. */
async function assertAnswers(target: Target): Promise<void> {
  await target.assertServes()
  const id = Buffer.from('req_1')
  const message = Buffer.concat([Buffer.from([0, 0, 0, 0, id.length + 2, 0x0a, id.length]), id])
  assert.equal(await call(target, 'Get', message, true), 'message: 5')
}
