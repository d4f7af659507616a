/** The proxies of ops/ do not forward the admin API, however its address is spelled. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import test, { type TestContext } from 'node:test'
import { freePorts } from '../support/processes/free-ports.ts'
import { startHaproxy } from '../support/machine/start-haproxy.ts'
import { startNginx } from '../support/machine/start-nginx.ts'
import { TLS_FILES } from '../support/http/tls-files.ts'

/** Stands in for a gateway, which would read each of these paths as a call of its admin API. */
async function startBackend(t: TestContext, port: number): Promise<void> {
  const server = createServer((_request, response) => response.end('passed'))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close())
}

async function statusOf(port: number, path: string): Promise<number> {
  const ca = await readFile(TLS_FILES.certificate)
  const call = request({ host: 'localhost', port, path, ca, agent: false }).end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve).once('error', reject)
  })
  return response.resume().statusCode!
}

async function assertAdminHidden(https: number): Promise<void> {
  assert.equal(await statusOf(https, '/v1/models'), 200)
  for (const path of [
    '/admin/fleet',
    '/admin/session?x=1',
    '/%61dmin/fleet',
    '/%61%64%6d%69%6e%2Ffleet',
    `https://localhost:${https}/admin/keys`,
  ]) {
    assert.equal(await statusOf(https, path), 404, path)
  }
}

test('nginx keeps the admin API to the network of the gateway', async (t) => {
  const [https, gateway] = await freePorts(2)
  await startBackend(t, gateway!)
  await startNginx(t, { ports: { https: https!, gateway: gateway! }, mediaFolder: tmpdir() })
  await assertAdminHidden(https!)
})

test('HAProxy keeps the admin API to the network of the gateways', async (t) => {
  const [http, https, grpc, ...gateways] = await freePorts(7)
  for (const port of gateways) await startBackend(t, port)
  await startHaproxy(t, {
    ports: { http: http!, https: https!, grpc: grpc! },
    gateways: [
      { http: gateways[0]!, grpc: gateways[1]! },
      { http: gateways[2]!, grpc: gateways[3]! },
    ],
  })
  await assertAdminHidden(https!)
})
