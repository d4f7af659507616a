import test from 'node:test'
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
