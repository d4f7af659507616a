import assert from 'node:assert/strict'
import test from 'node:test'
import { Value } from 'typebox/value'
import { AudioSeparateInput, QueueStatusResponse, RequestList } from '../../gateway/api/schemas.ts'
import { CreateFileResponse, File } from '../../gateway/api/file-schemas.ts'
import { ModelList } from '../../gateway/api/model-schemas.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import {
  API,
  callWith,
  complete,
  createFileBody,
  startGateway,
  submitted,
  uploadFile,
} from '../support/gateway/start-gateway.ts'
import { NO_MODELS } from '../support/no-models.ts'

const ENGINE = 'gpu-host-1-3f2a'

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

test('2.2 the model list has the models of live engines only', async (t) => {
  const mini = {
    name: 'mini',
    answers: 'text' as const,
    stems: [],
    summary: 'Small.',
    parameters: 10,
    weights_sha256: 'ab',
    sample_rate: 0,
    channels_max: 2,
    chunk_seconds_max: 60,
    gives_candidates: true,
    predicts_spans: false,
    precision: 'float32',
  }
  const description = {
    engine_id: ENGINE,
    version: '0.1.0',
    backend: 'tensorflow',
    device: 'cpu',
    started_at_ms: 1,
    jobs_max: 4,
    batch_frames_max: 100,
    model: mini,
    models: [mini],
  }
  const stats = () => Promise.reject(new Error('not asked for'))
  const cancel = async () => 'STOPPED'
  let calls = 0
  const describe = async () => {
    calls += 1
    if (calls === 1) throw new Error('too early')
    return description
  }
  const engine = { ...NO_MODELS, describe, stats, cancel, close() {} }
  const gateway = await startGateway(t, { engine })
  gateway.engineRegistry.announced({ engine_id: ENGINE, control_address: '127.0.0.1:1' })
  const announce = () =>
    gateway.engineRegistry.announced({ engine_id: ENGINE, control_address: '127.0.0.1:1' })
  const engines = async () => (await gateway.call('GET', '/v1/models')).json().data[0].engines
  assert.deepEqual([await engines(), await engines(), calls], [[], [], 1])
  gateway.clock.advance(10_000)
  const [[{ model, engine_id: name }]] = await Promise.all([engines(), engines()])
  announce()
  assert.deepEqual([(await engines())[0].engine_id, calls], [name, 2], 'not asked at each call')
  assert.match(name, /^engine_[0-9a-f]{16}$/, 'the host of an engine is not shown')
  assert.equal(model.name, 'mini')
  assert.deepEqual(
    [model.channels_max, model.gives_candidates, model.predicts_spans, model.precision],
    [2, true, false, 'float32'],
  )
  gateway.clock.advance(15_001)
  assert.deepEqual(await engines(), [])
})

test('2.3 to 2.5 a file is pending, then uploaded, then expired', async (t) => {
  const gateway = await startGateway(t)
  const created = await gateway.call('POST', '/v1/files', { body: createFileBody() })
  assert.equal(created.statusCode, 201)
  assertShape(CreateFileResponse, created.json())
  const { file_id: fileId, upload_method, headers, expires_at } = created.json()
  assert.equal(upload_method, 'PUT')
  assert.deepEqual(headers, { 'content-type': 'audio/mp4' })
  assert.equal(Date.parse(expires_at), gateway.clock.now() + 3_600_000)
  const file = async (id: string) => (await gateway.call('GET', `/v1/files/${id}`)).json()
  assertShape(File, await file(fileId))
  assert.equal((await file(fileId)).status, 'pending')
  assert.equal((await file(fileId)).uploaded_at, null)

  const uploadedId = await uploadFile(gateway)
  const uploaded = await file(uploadedId)
  assertShape(File, uploaded)
  assert.equal(uploaded.status, 'uploaded')
  assert.equal(Date.parse(uploaded.uploaded_at), gateway.clock.now())
  assert.equal(Date.parse(uploaded.expires_at), gateway.clock.now() + 24 * 3_600_000)
  gateway.clock.advance(3_600_000)
  assert.equal((await file(fileId)).status, 'expired')
  assert.equal((await file(uploadedId)).status, 'uploaded')
  gateway.clock.advance(23 * 3_600_000)
  assert.equal((await file(uploadedId)).status, 'expired')
})

test('2.4 a file name is kept unchanged, and is never used as a path', async (t) => {
  const gateway = await startGateway(t)
  const names = ['../../etc/passwd', '🎻 a/b\\c\u0007\n"x".wav', '.', 'x'.repeat(255)]
  for (const name of names) {
    const fileId = await uploadFile(gateway, { file_name: name })
    const file = (await gateway.call('GET', `/v1/files/${fileId}`)).json()
    assert.equal(file.file_name, name)
    const requestId = await submitted(gateway, { file_id: fileId })
    await complete(gateway, requestId)
    const { data } = (await gateway.call('GET', `${API}/requests/${requestId}/result`)).json()
    const output = await gateway.call('GET', data.target.url)
    assert.equal(output.statusCode, 200)
    assert.match(String(output.headers['content-disposition']), /^attachment; filename/)
  }
})

test('2.7 the options have the defaults of the spec', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway, { spans: [{ start: 1, end: 2 }] })
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
  const first = await submitted(gateway)
  gateway.clock.advance(5)
  const second = await submitted(gateway)
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
  const requestId = await submitted(gateway)
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
  await submitted(gateway)
  for (const query of ['', '?limit=x&cursor=x', '?limit=0', '?cursor=W10', '?limit=1e9']) {
    const reply = await gateway.call('GET', `${API}/requests${query}`)
    assertShape(RequestList, reply.json())
    assert.equal(reply.json().data.length, 1, query)
  }
  const other = await callWith(gateway, await gateway.newKey())('GET', `${API}/requests`)
  assert.deepEqual(other.json(), { object: 'list', data: [], next_cursor: null })
})
