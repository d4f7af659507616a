/** Receives spans as an OpenTelemetry collector would, over HTTP as JSON, until the test ends. */

import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { serve } from './serve.ts'

export interface ReceivedSpan {
  /** The service name of the resource. */
  service: string
  name: string
  /** OTLP's kinds: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  links?: { traceId: string; spanId: string }[]
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code?: number }
}

interface Export {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue: string } }[] }
    scopeSpans: { spans: Omit<ReceivedSpan, 'service'>[] }[]
  }[]
}

export async function startOtlpReceiver(t: Pick<TestContext, 'after'>) {
  const spans: ReceivedSpan[] = []
  const { url } = await serve(t, async (request, reply) => {
    if (request.url !== '/v1/traces') return void reply.writeHead(404).end()
    for (const { resource, scopeSpans } of ((await json(request)) as Export).resourceSpans) {
      const serviceName = resource.attributes.find(({ key }) => key === 'service.name')
      const service = serviceName?.value.stringValue ?? ''
      spans.push(
        ...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ service, ...span }))),
      )
    }
    reply.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return { url, spans }
}
