/** Null for an optional field of any body counts as absent. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { keyIdOf } from '../../gateway/accounts/auth.ts'
import { buildOpenApi } from '../../gateway/api/openapi.ts'
import { ADMIN, ADMIN_TOKEN, admin } from '../support/gateway/admin.ts'
import { API, createFileBody, startGateway } from '../support/gateway/start-gateway.ts'

interface Schema {
  $ref?: string
  anyOf?: Schema[]
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
}

interface Description {
  paths: Record<
    string,
    Record<
      string,
      { requestBody?: { content: { 'application/json': { schema: Schema } } } | undefined }
    >
  >
  components: { schemas: Record<string, Schema> }
}

type Body = Record<string, unknown>

test('2.4 2.6 2.7 null counts as absent, in every optional field of every body', async (t) => {
  const gateway = await startGateway(t, ADMIN)
  const document = buildOpenApi(gateway.app) as unknown as Description
  const file_id = await gateway.uploadFile()
  const { account_id } = (await admin(gateway, 'POST', 'accounts', { name: 'x' })).json()
  const request_id = await gateway.completed()
  const span = { start: 0, end: 1 }
  /** Valid bodies for each operation; every optional field is absent from one of them. */
  const separations = [
    { input: { prompt: 'x', file_id, spans: [span] } },
    { input: { prompts: ['x', 'y'], audio_url: 'https://a.example/x.mp3' } },
  ]
  const sounds = [{ input: { file_id } }, { input: { audio_url: 'https://a.example/x.mp3' } }]
  const samples: Record<string, Body[]> = {
    'post /v1/files': [createFileBody()],
    [`post ${API}/audio/separate`]: separations,
    'post /v1/audio/separate': separations,
    [`post ${API}/audio/sounds`]: sounds,
    'post /v1/audio/sounds': sounds,
    'patch /v1/queue/requests/{request_id}': [{ file_name: 'x.wav' }],
    'post /v1/queue/requests/{request_id}/shares': [{}],
    'post /v1/webhook-test': [{ webhookUrl: 'https://hooks.example/' }],
    'post /v1/webhook-endpoints': [{ url: 'https://hooks.example/' }],
    'patch /v1/webhook-endpoints/{endpoint_id}': [{}],
    'post /v1/webhook-endpoints/{endpoint_id}/rotate': [{}],
    'post /v1/webhook-endpoints/{endpoint_id}/replay': [{ since: '2020-01-01T00:00:00Z' }],
    'post /v1/account/keys': [{ scopes: ['files:read'] }],
    'post /admin/accounts': [{ name: 'y' }],
    'post /admin/accounts/{account_id}/credit': [{ seconds: 1 }],
    'put /admin/accounts/{account_id}/limits': [{}],
    'put /admin/keys/{key_id}/limits': [{}],
    'post /admin/keys': [{ scopes: ['files:read'] }],
    'post /admin/models/{name}/fetch': [{}],
    'post /admin/models/{name}/load': [{}],
    'post /admin/models/{name}/unload': [{}],
  }
  const resolved = (schema: Schema): Schema =>
    schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)!]! : schema
  /** Yields each body with one more null than `body`, with the path of that field. */
  function* withNull(schema: Schema, body: Body, path = ''): Generator<[string, Body, boolean]> {
    const { properties = {}, required = [] } = resolved(schema)
    for (const [name, field] of Object.entries(properties)) {
      const inner = resolved(field.anyOf ? field.anyOf[0]! : field)
      const isOptional = !required.includes(name)
      if (isOptional) yield [path + name, { ...body, [name]: null }, name in body]
      const value = body[name]
      const item = inner.items && resolved(inner.items)
      if (inner.properties && value) {
        for (const [at, changed, was] of withNull(inner, value as Body, `${path}${name}.`)) {
          yield [at, { ...body, [name]: changed }, was]
        }
      } else if (item?.properties && Array.isArray(value)) {
        for (const [at, changed, was] of withNull(item, value[0] as Body, `${path}${name}[].`)) {
          yield [at, { ...body, [name]: [changed] }, was]
        }
      }
    }
  }
  const url = 'https://hooks.example/'
  const endpoint = await gateway.call('POST', '/v1/webhook-endpoints', { body: { url } })
  const { endpoint_id } = endpoint.json()
  const key_id = keyIdOf(gateway.key)!
  const ids: Record<string, string> = { account_id, request_id, endpoint_id, key_id }
  let tried = 0
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const schema = requestBody?.content['application/json']?.schema
      if (!schema) continue
      const operation = `${method} ${path}`
      const bodies = samples[operation]
      assert.ok(bodies, `a sample is needed of the body of ${operation}`)
      const [all, absent] = [new Set<string>(), new Set<string>()]
      const isAdmin = path.startsWith('/admin')
      for (const body of bodies) {
        for (const [field, changed, was] of withNull(schema, body)) {
          all.add(field)
          if (was) continue // without it, the body may be invalid
          absent.add(field)
          const url = path.replace(/{(\w+)}/g, (name, id) => ids[id] ?? name)
          const reply = await gateway.call(method.toUpperCase() as 'POST', url, {
            body: changed,
            ...(isAdmin && { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }),
          })
          // No engine is there to manage models.
          const isAway = path.startsWith('/admin/models') && reply.statusCode === 503
          assert.ok(isAway || reply.statusCode < 300, `${operation} ${field}: ${reply.body}`)
          tried += 1
        }
      }
      assert.deepEqual([...all].sort(), [...absent].sort(), operation)
    }
  }
  assert.ok(tried > 20, `${tried} fields`)
})
