import test from 'node:test'
import { assertError } from '../support/assert-shape.ts'
import { startGateway } from '../support/start-gateway.ts'

const ADMIN_TOKEN = 'the-admin-token-of-this-test'

test('extension: models can not be changed while no engine answers', async (t) => {
  const gateway = await startGateway(t, { config: { adminToken: ADMIN_TOKEN } })
  for (const [method, path] of [
    ['POST', 'scnet/fetch'],
    ['POST', 'scnet/load'],
    ['POST', 'scnet/unload'],
    ['DELETE', 'scnet'],
  ] as const) {
    const url = `/admin/models/${path}`
    const body = method === 'POST' ? { body: {} } : {}
    assertError(
      await gateway.call(method, url, { key: ADMIN_TOKEN, ...body }),
      'SERVICE_UNAVAILABLE',
    )
  }
})
