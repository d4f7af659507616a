import assert from 'node:assert/strict'
import test from 'node:test'
import { startControlServer, type ControlledEngine } from '../../engine/control-server.ts'
import { connectEngine } from '../../shared/engine-control.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'

const ADMIN_TOKEN = 'the-admin-token-of-this-test'

test('extension: models can not be changed while no engine answers', async (t) => {
  const gateway = await startGateway(t, { config: { adminToken: ADMIN_TOKEN } })
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  for (const verb of ['fetch', 'load', 'unload']) {
    const url = `/admin/models/scnet/${verb}`
    const reply = await gateway.app.inject({ method: 'POST', url, headers, payload: {} })
    assertError(reply, 'SERVICE_UNAVAILABLE')
  }
  const url = '/admin/models/scnet'
  const reply = await gateway.app.inject({ method: 'DELETE', url, headers })
  assertError(reply, 'SERVICE_UNAVAILABLE')
})

test('extension: an engine is drained once it says so, not if it hangs', async (t) => {
  const config = { adminToken: ADMIN_TOKEN }
  const gateway = await startGateway(t, { config, engine: connectEngine })
  const drain = async (engineId: string, state: 'READY' | 'DRAINING') => {
    const engine: Partial<ControlledEngine> = {
      describe: () => ({ engine_id: engineId }) as never,
      drain: () => new Promise(() => undefined),
      stats: () => ({ state }) as never,
    }
    const server = await startControlServer('127.0.0.1', 0, engine as ControlledEngine)
    t.after(() => server.stop())
    gateway.engineRegistry.announced({ engine_id: engineId, control_address: server.address })
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    return gateway.app.inject({ method: 'POST', url: `/admin/engines/${engineId}/drain`, headers })
  }
  assertError(await drain('engine-1', 'READY'), 'SERVICE_UNAVAILABLE')
  assert.deepEqual((await drain('engine-2', 'DRAINING')).json(), {
    engine_id: 'engine-2',
    state: 'DRAINING',
  })
})
