/** A span of each HTTP call, in the trace of whoever makes it. */

import type { FastifyInstance } from 'fastify'
import { beginTraceSpan, isTracing, type TraceSpan } from '../../shared/telemetry/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span: TraceSpan | null
  }
}

/**
 * The calls of this scope are traced from here on. A span ends when its answer begins: that of a
 * status stream must not last as long as the stream.
 */
export function installTracing(app: FastifyInstance): void {
  if (!isTracing()) return
  app.decorateRequest('span', null)
  app.addHook('onRequest', async (request, reply) => {
    const { method, headers } = request
    const { url: route = '' } = request.routeOptions
    const attributes = { 'http.request.method': method, 'http.route': route }
    const from = typeof headers.traceparent === 'string' ? headers.traceparent : null
    const span = beginTraceSpan(`${method} ${route}`, { kind: 'server', from, attributes })
    reply.raw.once('close', () => span.end()) // of a client that hung up before
    request.span = span
  })
  // The last before the handler: what reads the body would not stay in the span.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span) request.span.run(done)
    else done()
  })
  app.addHook('onSend', async ({ span }, { statusCode }) => {
    span?.setAttributes({ 'http.response.status_code': statusCode })
    span?.end(statusCode >= 500 ? { code: String(statusCode) } : undefined)
  })
}
