/** A gRPC client of SeparationService, such as another service would use. */

import assert from 'node:assert/strict'
import { Readable, type Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import * as grpc from '@grpc/grpc-js'
import type { ErrorCode } from '../../../shared/errors.ts'
import {
  SEPARATION_SERVICE,
  separationPackage,
  startGrpcServer,
} from '../../../gateway/grpc/server.ts'
import type { Tls } from '../../../shared/process/tls-files.ts'
import type { Gateway } from '../gateway/start-gateway.ts'

type Message = Record<string, any>

interface CallOptions {
  /** Null to send no key. */
  key?: string | null
  metadata?: Record<string, string>
  deadlineMs?: number
}

const Client = grpc.makeGenericClientConstructor(
  separationPackage[SEPARATION_SERVICE] as grpc.ServiceDefinition,
  'SeparationService',
)

/** Serves the gateway on a loopback port and connects a client; both are closed after the test. */
export async function startSeparationClient(
  t: TestContext,
  gateway: Gateway,
  limits: { callMsMax?: number } = {},
) {
  const server = await startGrpcServer('127.0.0.1', 0, gateway.deps, limits)
  const client = separationClient(server.address, gateway.key)
  t.after(async () => {
    client.close()
    gateway.feed.close()
    await server.stop()
  })
  return { server, ...client }
}

/** Connects a client to `address`; `ownKey` is the API key of calls that set no other. */
export function separationClient(address: string, ownKey: string, tls?: Tls) {
  const credentials = tls
    ? grpc.credentials.createSsl(tls.ca, tls.key, tls.cert)
    : grpc.credentials.createInsecure()
  const client = new Client(address, credentials)
  const headers = ({ key = ownKey, metadata = {} }: CallOptions) => {
    const all = new grpc.Metadata()
    if (key !== null) all.set('authorization', `Bearer ${key}`)
    for (const [name, value] of Object.entries(metadata)) all.set(name, value)
    return all
  }
  const options = ({ deadlineMs }: CallOptions): grpc.CallOptions =>
    deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs }
  return {
    close: () => client.close(),
    /** Resolves with the response, or rejects with a gRPC error. */
    call: (method: string, request: Message, callOptions: CallOptions = {}) =>
      new Promise<Message>((resolve, reject) => {
        client[method]?.(
          request,
          headers(callOptions),
          options(callOptions),
          (error: grpc.ServiceError | null, reply: Message) =>
            error ? reject(error) : resolve(reply),
        )
      }),
    /** Sends the messages in order; resolves and rejects as `call` does. */
    separate: (
      messages: Iterable<Message> | AsyncIterable<Message>,
      callOptions: CallOptions & { signal?: AbortSignal } = {},
    ) =>
      new Promise<Message>((resolve, reject) => {
        const sending = Readable.from(messages)
        const call = client.Separate?.(
          headers(callOptions),
          options(callOptions),
          (error: grpc.ServiceError | null, reply: Message) => {
            sending.destroy() // the response ends the call, even before all messages are sent
            if (error) reject(error)
            else resolve(reply)
          },
        ) as unknown as Writable & { cancel(): void }
        callOptions.signal?.addEventListener('abort', () => call.cancel())
        sending.pipe(call)
      }),
    watch: (request: Message, callOptions: CallOptions = {}) =>
      client.Watch?.(
        request,
        headers(callOptions),
        options(callOptions),
      ) as unknown as grpc.ClientReadableStream<Message>,
  }
}

/** Asserts that the call fails with this status and machine-readable code, and returns its error. */
export async function assertRefused(
  call: Promise<unknown>,
  status: keyof typeof grpc.status,
  code: ErrorCode,
  param?: string,
): Promise<grpc.ServiceError> {
  const error = await call.then(
    () => assert.fail('it was answered'),
    (error: grpc.ServiceError) => error,
  )
  assert.equal(grpc.status[error.code], status, error.message)
  assert.equal(error.metadata.get('winnow-code')[0], code, error.message)
  assert.equal(error.metadata.get('winnow-param')[0], param)
  return error
}
