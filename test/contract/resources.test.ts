import assert from 'node:assert/strict'
import test from 'node:test'
import { Value } from 'typebox/value'
import { AudioSeparateInput, QueueStatusResponse, RequestList } from '../../gateway/api/schemas.ts'
import { CreateFileResponse, File } from '../../gateway/api/file-schemas.ts'
import { ModelList } from '../../gateway/api/model-schemas.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import { API, startGateway } from '../support/gateway/start-gateway.ts'

test('2.2 the model list has the one model, also without an engine', async (t) => {
  const gateway = await startGateway(t)
  const list = (await gateway.call('GET', '/v1/models')).json()
  assertShape(ModelList, list)
  assert.deepEqual(
    list.data.map((model: { id: string }) => model.id),
    ['audio/separate'],
  )
  assert.equal(list.data[0].media_seconds_max, gateway.deps.config.mediaSecondsMax)
  assert.ok(Value.Check(list.data[0].input, { prompt: 'a bell', file_id: 'file_1' }))
  assert.ok(!Value.Check(list.data[0].input, { prompt: '' }))
})

test('2.3 to 2.5 a file is pending, then uploaded, then expired', async (t) => {
  const gateway = await startGateway(t)
  const created = await gateway.createFile()
  assert.equal(created.statusCode, 201)
  assertShape(CreateFileResponse, created.json())
  const { file_id: fileId, upload_method, headers, expires_at } = created.json()
  assert.equal(upload_method, 'PUT')
  assert.deepEqual(headers, { 'content-type': 'audio/mp4' })
  assert.equal(Date.parse(expires_at), gateway.clock.now() + 3_600_000)
  const read = async (id: string) => {
    const file = (await gateway.call('GET', `/v1/files/${id}`)).json()
    assertShape(File, file)
    return file
  }
  const pending = await read(fileId)
  assert.deepEqual([pending.status, pending.uploaded_at], ['pending', null])
  const uploadedId = await gateway.uploadFile()
  const uploaded = await read(uploadedId)
  assert.equal(uploaded.status, 'uploaded')
  assert.equal(Date.parse(uploaded.uploaded_at), gateway.clock.now())
  assert.equal(Date.parse(uploaded.expires_at), gateway.clock.now() + 24 * 3_600_000)
  gateway.clock.advance(3_600_000)
  const statuses = [(await read(fileId)).status, (await read(uploadedId)).status]
  assert.deepEqual(statuses, ['expired', 'uploaded'])
})

test('2.7 the options have the defaults of the spec', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted({ spans: [{ start: 1, end: 2 }] })
  assert.deepEqual(gateway.broker.jobOf(requestId).options, {
    predict_spans: false,
    reranking_candidates: 1,
    acceleration: 'balanced',
    max_chunk_duration: 60,
    chunk_overlap: 5,
    output_format: 'wav',
    spans: [{ start: 1, end: 2, include: true }],
  })
  const { properties } = AudioSeparateInput
  assert.equal((properties.acceleration as { default?: unknown }).default, 'balanced')
})

test('2.9 status has its shape in every state', async (t) => {
  const gateway = await startGateway(t)
  const status = async (id: string, query = '') => {
    const reply = await gateway.call('GET', `${API}/requests/${id}/status${query}`)
    assertShape(QueueStatusResponse, reply.json())
    return reply.json()
  }
  const first = await gateway.submitted()
  gateway.clock.advance(5)
  const second = await gateway.submitted()
  assert.equal((await status(first)).queue_position, 1)
  assert.equal((await status(second)).queue_position, 2)
  await gateway.event('started', first)
  const at = new Date(gateway.clock.now()).toISOString()
  gateway.feed.progressed({ request_id: first, attempt_id: 'attempt-1', at, progress: 0.25 })
  assert.equal((await status(first)).progress, 0.25)
  gateway.clock.advance(1_000)
  assert.equal((await status(second)).queue_position, 1)
  await gateway.event('failed', first)
  const failed = await status(first)
  assert.deepEqual(failed.error, { code: 'MODEL_FAILED', message: 'The model failed.' })
  assert.ok(!('progress' in failed) && !('queue_position' in failed))
})

test('2.9 logs are included on request', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const line = (message: string) => ({ timestamp: '2026-01-02T03:04:05.000Z', message })
  await gateway.event('started', requestId, { logs: [line('one'), line('two')] })
  await gateway.event('failed', requestId, { logs: [line('three')] })
  const logs = async (query: string) =>
    (await gateway.call('GET', `${API}/requests/${requestId}/status${query}`)).json().logs
  assert.deepEqual(await logs('?logs=true'), [line('one'), line('two'), line('three')])
  for (const query of ['', '?logs=false', '?logs=maybe', '?logs=', '?logs=true&logs=true']) {
    assert.equal(await logs(query), undefined, query)
  }
})

test('extension: a list of requests replaces invalid values by defaults', async (t) => {
  const gateway = await startGateway(t)
  await gateway.submitted()
  for (const query of ['', '?limit=x&cursor=x', '?limit=0', '?cursor=W10', '?limit=1e9']) {
    const reply = await gateway.call('GET', `${API}/requests${query}`)
    assertShape(RequestList, reply.json())
    assert.equal(reply.json().data.length, 1, query)
  }
  const other = await gateway.call('GET', `${API}/requests`, { key: await gateway.newKey() })
  assert.deepEqual(other.json(), { object: 'list', data: [], next_cursor: null })
})
