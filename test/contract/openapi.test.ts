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

/** The error statuses that note 7 of part 4 lists. */
const ERROR_STATUSES: Record<string, number[]> = {
  'get /v1/models': [401, 403, 500],
  'post /v1/files': [400, 401, 403, 415, 500],
  'get /v1/files/{file_id}': [401, 403, 404, 500],
  'post /v1/queue/audio/separate': [400, 401, 402, 403, 409, 410, 413, 500, 502],
  'post /v1/queue/audio/sounds': [400, 401, 402, 403, 409, 410, 413, 500, 502],
  'get /v1/queue/requests/{request_id}/status': [401, 403, 404, 500],
  'get /v1/queue/requests/{request_id}/status/stream': [401, 403, 404, 500],
  'get /v1/queue/requests/{request_id}/result': [401, 403, 404, 409, 500],
}

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

test('9.2 the API description is compressed, and sent again only when it has changed', async (t) => {
  const gateway = await startGateway(t, { config: { corsOrigins: ['https://app.example.com'] } })
  const get = (headers: Record<string, string> = {}) =>
    gateway.call('GET', '/v1/openapi.json', { key: null, headers })
  const [plain, compressed] = [await get(), await get({ 'accept-encoding': 'br, gzip' })]
  assert.equal(compressed.headers['content-encoding'], 'gzip')
  assert.equal(compressed.headers.vary, 'origin, accept-encoding')
  assert.equal(gunzipSync(compressed.rawPayload).toString(), plain.body)
  const etag = String(plain.headers.etag)
  assert.equal(compressed.headers.etag, etag)
  for (const named of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const reply = await get({ 'if-none-match': named, 'accept-encoding': 'gzip' })
    assert.deepEqual([reply.statusCode, reply.body, reply.headers.etag], [304, '', etag], named)
  }
  assert.equal((await get({ 'if-none-match': '"other"' })).statusCode, 200)
})

test('4.7 and 9.1 the description lists the endpoints and statuses of the spec', async (t) => {
  const gateway = await startGateway(t)
  const { paths, components } = (await gateway.call('GET', '/v1/openapi.json')).json()
  for (const [endpoint, statuses] of Object.entries(ERROR_STATUSES)) {
    const [method = '', path = ''] = endpoint.split(' ')
    const given = Object.keys(paths[path][method].responses).map(Number)
    const extensions = [429, 503] // of an operator's limit; of a database that is away
    assert.deepEqual(
      given.filter((status) => status >= 400 && !extensions.includes(status)),
      statuses,
      endpoint,
    )
    for (const status of extensions) assert.ok(given.includes(status), `${endpoint}: ${status}`)
  }
  assert.ok(Object.keys(paths).every((path) => path.startsWith('/v1/')))
  const references = [...JSON.stringify(paths).matchAll(/"#\/components\/schemas\/(\w+)"/g)]
  assert.ok(references.length > 20)
  for (const [, name = ''] of references) assert.ok(components.schemas[name], name)
})

/**
 * The fields of part 2 and clause 6.1, by schema of the description: those that are required, those
 * that are not, and our own additions.
 */
const FIELDS: Record<string, [required: string, optional?: string, extension?: string]> = {
  ErrorResponse: ['error'],
  'ErrorResponse.error': ['code message', 'param request_id'],
  ModelList: ['object data'],
  Model: ['id object description input output', '', 'engines separators'],
  File: [
    'file_id file_name content_type file_size purpose status created_at expires_at',
    'uploaded_at',
  ],
  CreateFileRequest: ['file_name content_type file_size purpose'],
  CreateFileResponse: ['file_id upload_url upload_method headers expires_at retention'],
  'CreateFileResponse.headers': ['', 'content-type'],
  'CreateFileResponse.retention': ['', 'delete_after'],
  SubmitAudioSeparateRequest: ['input', 'webhookUrl webhookSecret metadata'],
  // prompt is required where prompts does not take its place: prompts.test.ts
  AudioSeparateInput: [
    '',
    'prompt audio_url file_id predict_spans reranking_candidates acceleration ' +
      'max_chunk_duration chunk_overlap output_format spans',
    'prompts request_id output output_index audio_track separator side',
  ],
  AudioSpan: ['start end', 'include'],
  QueueSubmitResponse: [
    'request_id status model created_at status_url stream_url result_url',
    'webhook',
  ],
  'QueueSubmitResponse.webhook': ['url', 'signing_secret'],
  QueueStatusResponse: [
    'request_id model status created_at updated_at result_url',
    'logs webhook',
    'progress queue_position estimated_seconds_left error match understood_as separator targets findings metadata',
  ],
  WebhookDeliveryStatus: ['delivery_status attempts delivered_at last_error'],
  QueueResultResponse: ['request_id model status data usage retention', 'webhook', 'metadata'],
  'QueueResultResponse.usage': ['', 'feature quantity billing_status'],
  'QueueResultResponse.retention': ['', 'delete_after'],
  SeparationData: [
    'target residual sample_rate',
    'duration',
    'targets match understood_as separator findings gain_db sounds',
  ],
  AudioSoundsInput: ['', '', 'audio_url file_id request_id output output_index audio_track'],
  SoundsData: ['sounds duration'],
  HeardSound: ['name spans share match'],
  OutputFile: ['url content_type file_name', 'video_url'],
  SeparationCompletedEvent: [
    'type request_id model status created_at completed_at data usage',
    'metadata',
  ],
  SeparationFailedEvent: ['type request_id model status created_at failed_at error', 'metadata'],
  'SeparationFailedEvent.error': ['code message'],
}

test('2 and 6.1 every resource has the fields of the spec, required where they are', async (t) => {
  const gateway = await startGateway(t)
  const { components } = (await gateway.call('GET', '/v1/openapi.json')).json()
  const words = (text = '') => text.split(' ').filter(Boolean)
  for (const [path, [required, optional, extension]] of Object.entries(FIELDS)) {
    const [title = '', field] = path.split('.')
    const whole = components.schemas[title]
    const schema = field ? whole.properties[field] : whole
    const all = [...words(required), ...words(optional), ...words(extension)]
    assert.deepEqual(Object.keys(schema.properties).sort(), all.sort(), path)
    assert.deepEqual([...(schema.required ?? [])].sort(), words(required).sort(), path)
  }
})

test('4.7 every operation is described, and its examples are of its schemas', async (t) => {
  const gateway = await startGateway(t)
  const { paths, components } = (await gateway.call('GET', '/v1/openapi.json')).json()
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
