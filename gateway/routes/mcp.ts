/**
 * The Model Context Protocol over HTTP: the same tools as `winnow mcp`, for agents with an API key.
 * Each tool calls the API with the caller's key, so the scopes, limits, validation and log of the
 * API apply. Nothing is kept between calls.
 */

import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../../shared/errors.ts'
import type { Calls } from '../../shared/mcp/calls.ts'
import type { ErrorResponse } from '../api/schemas.ts'
import { hidden, onHangUp } from './common.ts'

const PATH = '/mcp'
const SESSION = 'mcp-session-id'
const OPTIONS = { ...hidden, config: { scope: 'any' } } as const

type Message = { method?: unknown; id?: unknown; params?: { requestId?: unknown } }

export function mcpRoute(app: FastifyInstance): void {
  /** Functions that end the calls in progress, by `callKey`. */
  const underWay = new Map<string, () => Promise<void>>()
  app.post<{ Body: Message }>(PATH, OPTIONS, async (request, reply) => {
    const { body } = request
    if (Array.isArray(body)) {
      const message = 'Send one message of JSON-RPC at a time, not an array.'
      throw new ServiceError('INVALID_REQUEST', { message })
    }
    if (body?.method === 'notifications/cancelled') {
      await underWay.get(callKey(request, body.params?.requestId))?.()
      return reply.status(202).send()
    }
    const { createMcpServer, WebStandardStreamableHTTPServerTransport } = await loadSdk()
    const server = createMcpServer({ calls: () => callsOf(app, request) })
    const transport = new WebStandardStreamableHTTPServerTransport({})
    await server.connect(transport)
    const key = callKey(request, body?.id)
    const end = () => server.close() // ends what the call waits for
    underWay.set(key, end)
    onHangUp(reply, () => {
      if (underWay.get(key) === end) underWay.delete(key)
      void end()
    })
    // The client names this session when it cancels a call; the gateway itself keeps no session.
    if (body?.method === 'initialize') reply.header(SESSION, randomUUID())
    return transport.handleRequest(webRequestOf(request), { parsedBody: body as JSONRPCMessage })
  })
  app.route({
    method: ['GET', 'DELETE'],
    url: PATH,
    ...OPTIONS,
    handler: (_request, reply) => reply.status(405).header('allow', 'POST').send(),
  })
}

/** Loads the SDK at the first call, so that the start need not wait for its hundreds of modules. */
const loadSdk = async () => ({
  ...(await import('../../shared/mcp/server.ts')),
  ...(await import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js')),
})

/**
 * Returns what identifies a call for canceling it. The session is part of it, because two clients
 * with one key may use the same numbers for their calls. A client without a session cannot cancel
 * any.
 */
function callKey({ apiKey, headers, id }: FastifyRequest, rpcId: unknown): string {
  return JSON.stringify([apiKey.key_id, headers[SESSION] ?? id, rpcId])
}

/** Returns a web request for the transport, which reads only its headers. */
function webRequestOf({ headers }: FastifyRequest): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return new Request(`http://gateway${PATH}`, { method: 'POST', headers: pairs })
}

function callsOf(app: FastifyInstance, { headers, id, client }: FastifyRequest): Calls {
  async function call<Body>(method: 'GET' | 'POST' | 'PUT', url: string, body?: object) {
    const { authorization } = headers
    const options = {
      method,
      url,
      headers: { authorization, 'x-request-id': id },
      remoteAddress: client,
      ...(body && { payload: body }),
    }
    const response = await app.inject(options).catch(() => {
      const message = 'The gateway is stopping; call again in a moment.'
      throw new ServiceError('SERVICE_UNAVAILABLE', { message })
    })
    if (response.statusCode < 400) return response.json<Body>()
    const { error } = response.json<ErrorResponse>()
    throw Object.assign(new Error(error.message), error)
  }
  const pathOf = (requestId: string) => `/v1/queue/requests/${encodeURIComponent(requestId)}`
  return {
    models: () => call('GET', '/v1/models'),
    createFile: (file) => call('POST', '/v1/files', file),
    submit: (body) => call('POST', '/v1/queue/audio/separate', body),
    submitSounds: (body) => call('POST', '/v1/queue/audio/sounds', body),
    status: (requestId) => call('GET', `${pathOf(requestId)}/status`),
    result: (requestId) => call('GET', `${pathOf(requestId)}/result`),
    cancel: (requestId) => call('PUT', `${pathOf(requestId)}/cancel`),
  }
}
