import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import test from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { TSchema } from 'typebox'
import { NOTES } from '../../gateway/api/openapi-examples.ts'
import * as schemas from '../../gateway/api/schemas.ts'
import * as soundsSchemas from '../../gateway/api/sounds-schemas.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import { PUBLIC_URL, startGateway } from '../support/gateway/start-gateway.ts'

const GOLDEN = new URL('openapi.golden.json', import.meta.url)

test('9.2 the API description is the reviewed one, of version 1.0.0', async (t) => {
  const gateway = await startGateway(t, { config: { adminToken: 'with-the-admin-api' } })
  const reply = await gateway.call('GET', '/v1/openapi.json', { key: null })
  const { servers, ...document } = reply.json()
  assert.deepEqual(servers, [{ url: PUBLIC_URL }])
  assert.equal(document.info.version, '1.0.0')
  assert.match(document.openapi, /^3\.1\./)
  if (process.env.UPDATE_GOLDEN) writeFileSync(GOLDEN, `${JSON.stringify(document, null, 2)}\n`)
  assert.deepEqual(document, JSON.parse(readFileSync(GOLDEN, 'utf8')))
})

test('9.2 the API description is compressed, and only sent again if it has changed', async (t) => {
  const gateway = await startGateway(t, { config: { corsOrigins: ['https://app.example.com'] } })
  const get = (headers: Record<string, string> = {}) =>
    gateway.call('GET', '/v1/openapi.json', { key: null, headers })
  const [plain, compressed] = [await get(), await get({ 'accept-encoding': 'br, gzip' })]
  assert.equal(compressed.headers['content-encoding'], 'gzip')
  assert.equal(compressed.headers.vary, 'origin, accept-encoding')
  assert.equal(gunzipSync(compressed.rawPayload).toString(), plain.body)
  const etag = String(plain.headers.etag)
  assert.equal(compressed.headers.etag, etag)
  for (const tag of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const reply = await get({ 'if-none-match': tag, 'accept-encoding': 'gzip' })
    assert.deepEqual([reply.statusCode, reply.body, reply.headers.etag], [304, '', etag], tag)
  }
  assert.equal((await get({ 'if-none-match': '"other"' })).statusCode, 200)
})

test('4.7 and 9.1 every operation is described with what it refers to, and examples fit their schemas', async (t) => {
  const gateway = await startGateway(t)
  const { paths, components } = (await gateway.call('GET', '/v1/openapi.json')).json()
  const references = [...JSON.stringify(paths).matchAll(/"#\/components\/schemas\/(\w+)"/g)]
  assert.ok(references.length > 20)
  for (const [, name = ''] of references) assert.ok(components.schemas[name], name)
  for (const [path, operations] of Object.entries<Record<string, any>>(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { summary, description, tags, responses, parameters = [] } = operation
      assert.ok(summary && description && tags.length === 1, `${method} ${path}`)
      for (const one of [...parameters, ...Object.values<any>(responses)]) {
        assert.ok(one.description && one.description !== 'Default Response', `${method} ${path}`)
      }
    }
  }
  const byTitle = new Map(
    Object.values<TSchema & { title?: string }>({ ...schemas, ...soundsSchemas } as never).map(
      (schema) => [schema.title, schema],
    ),
  )
  for (const [title, { example }] of Object.entries(NOTES)) {
    assert.ok(components.schemas[title], title)
    const schema = byTitle.get(title)
    if (schema && example) assertShape(schema, example)
  }
})
