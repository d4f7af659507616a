/** Serves `GET /metrics` on a separate port, for admins only. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { localUrl } from '../local-url.ts'
import { onPort } from '../process/on-port.ts'
import { httpsOptions, type Tls } from '../process/tls-files.ts'
import type { Logger } from './log.ts'
import { MetricSet } from './metrics.ts'

export interface MetricsServer {
  /** Its address: `http://host:port`, or `https:` with TLS. */
  address: string
  stop(): Promise<void>
}

interface MetricsSource {
  text(): Promise<string>
  log: Logger
  tls?: Tls | undefined
}

/**
 * Listens on `host:port`; port 0 chooses a free one.
 * @throws StartError if the port is in use
 */
export async function startMetricsServer(
  host: string,
  port: number,
  source: MetricsSource,
): Promise<MetricsServer> {
  const { tls } = source
  const listener = (request: IncomingMessage, reply: ServerResponse) =>
    void answer(source, request, reply)
  const server = tls ? createTlsServer(httpsOptions(tls), listener) : createServer(listener)
  server.listen({ port, host, exclusive: true }) // processes that share other ports have one each
  await onPort({ host, port, prefix: 'METRICS_' }, once(server, 'listening'))
  return {
    address: localUrl(host, (server.address() as AddressInfo).port, tls && 'https'),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function answer(
  { text, log }: MetricsSource,
  { method = '', url = '' }: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  if (!/^\/metrics(\?|$)/.test(url)) return end(reply, 404, 'Metrics are at /metrics.\n')
  if (method !== 'GET' && method !== 'HEAD') {
    reply.setHeader('allow', 'GET, HEAD')
    return end(reply, 405, 'Metrics are to be got.\n')
  }
  try {
    const metrics = await text()
    reply.setHeader('content-type', MetricSet.contentType)
    end(reply, 200, metrics)
  } catch (error) {
    log.error({ err: error }, 'the metrics could not be read')
    end(reply, 500, 'The metrics could not be read; the log says why.\n')
  }
}

function end(reply: ServerResponse, status: number, text: string): void {
  reply.writeHead(status).end(text)
}
