/** Records a trace span for each HTTP call, in the trace of its caller. */

import type { FastifyInstance } from 'fastify'
import { beginTraceSpan, isTracing, type TraceSpan } from '../../shared/telemetry/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span: TraceSpan | null
  }
}

/**
 * Traces the calls of this scope from here on. A trace span ends when its answer begins, because it
 * must not last as long as a status stream.
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
    reply.raw.once('close', () => span.end()) // if the client hung up before the answer
    request.span = span
  })
  // The last hook before the handler, because reading the body would leave the trace span.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span) request.span.run(done)
    else done()
  })
  app.addHook('onSend', async ({ span }, { statusCode }) => {
    span?.setAttributes({ 'http.response.status_code': statusCode })
    span?.end(statusCode >= 500 ? { code: String(statusCode) } : undefined)
  })
}
