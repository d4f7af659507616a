/** Starts Debian's HAProxy with ops/haproxy.cfg. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { debianPrograms } from './debian-package.ts'
import { placed } from './placed.ts'
import { TLS_FILES } from '../http/tls-files.ts'

interface Places {
  /** Loopback ports for clients that speak http, https and gRPC. */
  ports: { http: number; https: number; grpc: number }
  /** Ports of the two gateways, which need not be open yet. */
  gateways: readonly [GatewayPorts, GatewayPorts]
}

export interface GatewayPorts {
  http: number
  grpc: number
}

/**
 * Starts HAProxy with the certificate of TLS_FILES. Resolves once it listens; `log` returns its log
 * so far.
 */
export async function startHaproxy(
  t: Pick<TestContext, 'after'>,
  { ports, gateways: [one, two] }: Places,
): Promise<{ log(): string }> {
  const { folder: programs, env } = await debianPrograms('haproxy', ['haproxy'])
  const folder = await mkdtemp(join(tmpdir(), 'haproxy-'))
  const certificate = join(folder, 'winnow.pem')
  const parts = await Promise.all(Object.values(TLS_FILES).map((path) => readFile(path, 'utf8')))
  await writeFile(certificate, parts.join(''))
  const config = await placed('ops/haproxy.cfg', {
    'bind :80\n': `bind 127.0.0.1:${ports.http}\n`,
    'bind :443 ': `bind 127.0.0.1:${ports.https} `,
    'bind :8081 ': `bind 127.0.0.1:${ports.grpc} `,
    '/etc/haproxy/winnow.pem': certificate,
    'gateway-one:8080': `127.0.0.1:${one.http}`,
    'gateway-two:8080': `127.0.0.1:${two.http}`,
    'gateway-one:8081': `127.0.0.1:${one.grpc}`,
    'gateway-two:8081': `127.0.0.1:${two.grpc}`,
  })
  const path = join(folder, 'haproxy.cfg')
  await writeFile(path, config)
  const server = spawn(join(programs, 'haproxy'), ['-W', '-f', path], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  })
  let log = ''
  const ended = once(server, 'exit')
  t.after(async () => {
    server.kill('SIGTERM') // makes the master stop its worker at once
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  const ready = new Promise<void>((resolve) => {
    for (const output of [server.stdout, server.stderr]) {
      output.on('data', (text: Buffer) => {
        log += text.toString()
        if (log.includes('Loading success.')) resolve()
      })
    }
  })
  await Promise.race([
    ready,
    ended.then(() => Promise.reject(new Error(`HAProxy did not start:\n${log}`))),
  ])
  return { log: () => log }
}
