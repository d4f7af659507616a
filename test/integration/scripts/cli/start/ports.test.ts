/** The ports that `npm start` chooses where no setting names them. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import test, { type TestContext } from 'node:test'
import { choosePorts } from '../../../../../scripts/cli/start/ports.ts'
import { freePorts } from '../../../../support/processes/free-ports.ts'

const HOSTS = {
  gateways: 1,
  grpcHost: '127.0.0.1',
  metricsHost: '127.0.0.1',
  adminPort: 'off' as const,
}
const UNSET = { ...HOSTS, grpcPort: undefined, metricsPort: undefined }

/** Occupies a port, unless another program already does. */
async function take(t: TestContext, port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening').catch(() => undefined)
  t.after(() => server.close())
}

test('a default port that is in use is skipped, and no two are the same', async (t) => {
  const [port = 0] = await freePorts(1)
  for (const nth of [1, 1_000, 1_002]) await take(t, port + nth)
  const { grpc, metrics, engineMetrics } = await choosePorts({ ...UNSET, port }, 2)
  assert.ok(Number(grpc) > port + 1)
  assert.ok(Number(metrics) > port + 1_000)
  const all = [port, grpc, metrics, ...engineMetrics]
  assert.equal(new Set(all).size, 5, `${all}`)
  assert.ok(!all.includes(port + 1_002))
})

test('a port set explicitly stays, and so do "any free port" and "none"', async (t) => {
  const [port = 0, own = 0] = await freePorts(2)
  await take(t, own)
  const set = await choosePorts({ ...HOSTS, port, grpcPort: own, metricsPort: 'off' }, 1)
  assert.deepEqual(set, { grpc: own, metrics: 'off', engineMetrics: ['off'] })
  const free = await choosePorts({ ...UNSET, port: 0 }, 2)
  assert.deepEqual(free, { grpc: 0, metrics: 0, engineMetrics: [0, 0] })
})
