/** SeparationService as other services see it: proto/separation.proto, over a real connection. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { createRequire } from 'node:module'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as grpc from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import { ServiceError, type ErrorCode } from '../../shared/errors.ts'
import { loadProto } from '../../shared/proto.ts'
import { SEPARATION_SERVICE, startGrpcServer } from '../../gateway/grpc/server.ts'
import {
  assertRefused,
  separationClient,
  startSeparationClient,
} from '../support/clients/separation-client.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'
import { loseTable } from '../support/database/test-database.ts'

test('grpc: it can listen on an IPv6 address', async (t) => {
  const gateway = await startGateway(t)
  const server = await startGrpcServer('::1', 0, gateway.deps)
  const { call, close } = separationClient(server.address, gateway.key)
  t.after(async () => {
    close()
    await server.stop()
  })
  assert.match(server.address, /^\[::1\]:\d+$/)
  assert.deepEqual((await call('List', {})).separations, [])
})

test('grpc: a request is submitted, watched to its end, and fetched with its result', async (t) => {
  const gateway = await startGateway(t)
  const { call, watch } = await startSeparationClient(t, gateway)
  const submission = {
    input: {
      prompt: ' A Bell. ',
      file_id: await gateway.uploadFile(),
      acceleration: 'QUALITY',
      output_format: 'MP3',
      chunk_overlap: 0,
      audio_track: 2,
      separator: 'mini',
      spans: [{ start: 1, end: 2, include: false }, { end: 1 }],
    },
    metadata_json: '{"a":12345678901234567890,"b":[false,null],"__proto__":{"d":""}}',
  }
  const accepted = await call('Submit', submission)
  const requestId = accepted.request_id
  assert.equal(accepted.status, 'IN_QUEUE')
  assert.equal(accepted.model, 'audio/separate')
  assert.equal(accepted.created_at_ms, gateway.clock.now())
  assert.equal((await gateway.call('GET', accepted.status_url)).json().request_id, requestId)
  await gateway.publish()
  const { prompt, options } = gateway.broker.jobOf(requestId)
  assert.equal(prompt, 'A Bell.')
  assert.deepEqual(options, {
    predict_spans: false,
    reranking_candidates: 1,
    acceleration: 'quality',
    max_chunk_duration: 60,
    chunk_overlap: 0,
    output_format: 'mp3',
    audio_track: 2,
    separator: 'mini',
    spans: [
      { start: 1, end: 2, include: false },
      { start: 0, end: 1, include: true },
    ],
  })
  const [row] = await gateway.rows('requests')
  assert.equal(row?.metadata, submission.metadata_json)

  const messages: Record<string, any>[] = []
  for await (const message of watch({ request_id: requestId, logs: true })) {
    messages.push(message)
    if (messages.length === 1) await gateway.complete(requestId)
  }
  assert.equal(messages[0]?.status, 'IN_QUEUE')
  assert.equal(messages[0]?.queue_position, 1)
  const last = messages.at(-1)
  assert.equal(last?.status, 'COMPLETED')
  assert.equal(last.result.duration, 12.5)
  assert.equal(last.result.usage.quantity, 13)
  assert.equal(last.result.delete_after_ms, gateway.clock.now() + 7 * 86_400_000)
  assert.equal((await gateway.call('GET', last.result.target.url)).body, 'target')
  const got = await call('Get', { request_id: requestId, logs: true })
  assert.deepEqual(got, last)
  gateway.clock.advance(7 * 86_400_000)
  const later = await call('Get', { request_id: requestId })
  assert.equal(later.status, 'COMPLETED')
  assert.equal(later.result, null)
})

test('grpc: webhooks and idempotency keys work as over HTTP', async (t) => {
  const gateway = await startGateway(t)
  const { call } = await startSeparationClient(t, gateway)
  const webhook_url = 'https://hooks.example/in'
  const submission = { input: { prompt: 'x', file_id: await gateway.uploadFile() }, webhook_url }
  const metadata = { 'idempotency-key': 'key-1' }
  const accepted = await call('Submit', submission, { metadata })
  assert.equal(accepted.webhook.url, webhook_url)
  assert.match(accepted.webhook.signing_secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(await call('Submit', submission, { metadata }), accepted)
  const other = { ...submission, webhook_secret: 'a secret of the client' }
  await assertRefused(
    call('Submit', other, { metadata }),
    'ALREADY_EXISTS',
    'IDEMPOTENCY_CONFLICT',
    'Idempotency-Key',
  )
  const own = await call('Submit', other)
  assert.deepEqual([own.webhook.url, '_signing_secret' in own.webhook], [webhook_url, false])
  const request = { request_id: accepted.request_id }
  const waiting = (await call('Get', request)).webhook
  assert.deepEqual([waiting.delivery_status, waiting.attempts], ['pending', 0])
  assert.deepEqual(['_delivered_at_ms' in waiting, '_last_error' in waiting], [false, false])
  await call('Cancel', request)
  const delivered_at = '2026-01-02T03:04:05.000Z'
  const attempts = { attempts: 2, last_error: 'The first try failed.' }
  const delivered = { ...attempts, state: 'delivered', delivered_at } as const
  await gateway.store.updateTable('deliveries').set(delivered).execute()
  const { webhook } = await call('Get', request)
  assert.deepEqual(
    [webhook.delivery_status, webhook.attempts, webhook.last_error, webhook.delivered_at_ms],
    ['delivered', 2, attempts.last_error, Date.parse(delivered_at)],
  )
})

test('grpc: each method needs a key with the scope audio:separate', async (t) => {
  const gateway = await startGateway(t)
  const { call, watch } = await startSeparationClient(t, gateway)
  const scopeless = await gateway.newKey(['models:read', 'files:read', 'files:write'])
  for (const key of [null, 'sep_test_0', scopeless]) {
    const code = key === scopeless ? 'PERMISSION_DENIED' : 'UNAUTHENTICATED'
    for (const method of ['Submit', 'Get', 'Cancel', 'List']) {
      await assertRefused(call(method, {}, { key }), code, code)
    }
    await assertRefused(watch({}, { key }).toArray(), code, code)
  }
})

test('grpc: errors carry code, field and request, also as google.rpc.ErrorInfo', async (t) => {
  let found = () => {}
  const gateway = await startGateway(t, { checkAudioUrl: async () => found() })
  const { call } = await startSeparationClient(t, gateway)
  const input = { prompt: 'x', audio_url: 'https://a.example/x.mp3' }
  const submit = (more: object = {}) => call('Submit', { input: { ...input, ...more } })
  const refusals: [submission: object, code: ErrorCode, param: string][] = [
    [{}, 'INVALID_REQUEST', 'input'],
    [{ input: { ...input, prompt: '' } }, 'INVALID_PARAMETER', 'input.prompt'],
    [{ input: { ...input, acceleration: 9 } }, 'INVALID_REQUEST', 'input.acceleration'],
    [
      { input: { ...input, max_chunk_duration: NaN } },
      'INVALID_REQUEST',
      'input.max_chunk_duration',
    ],
    [{ input: { prompt: 'x' } }, 'INVALID_PARAMETER', 'input.audio_url'],
    [{ input: { prompt: 'x', file_id: 'é' } }, 'INVALID_PARAMETER', 'input.file_id'],
    [{ input, webhook_secret: 'short' }, 'INVALID_PARAMETER', 'webhookSecret'],
    ...['', '{', '[]'].map((metadata_json): [object, ErrorCode, string] => [
      { input, metadata_json },
      'INVALID_REQUEST',
      'metadata',
    ]),
  ]
  for (const [submission, code, param] of refusals) {
    await assertRefused(call('Submit', submission), 'INVALID_ARGUMENT', code, param)
  }
  for (const [code, status] of [
    ['MEDIA_FETCH_FAILED', 'UNAVAILABLE'],
    ['INSUFFICIENT_CREDITS', 'FAILED_PRECONDITION'],
    ['FILE_EXPIRED', 'FAILED_PRECONDITION'],
    ['PAYLOAD_TOO_LARGE', 'INVALID_ARGUMENT'],
    ['IDEMPOTENCY_CONFLICT', 'ALREADY_EXISTS'],
    ['RATE_LIMITED', 'RESOURCE_EXHAUSTED'],
  ] as const) {
    found = () => {
      throw new ServiceError(code)
    }
    await assertRefused(submit(), status, code)
  }
  const spans = [{ start: 2, end: 1 }]
  const error = await assertRefused(
    submit({ spans }),
    'INVALID_ARGUMENT',
    'INVALID_PARAMETER',
    'input.spans[0].end',
  )
  assert.match(error.details, /must be greater than/)
  assert.deepEqual(readDetails(error), {
    code: grpc.status.INVALID_ARGUMENT,
    message: error.details,
    info: {
      reason: 'INVALID_PARAMETER',
      domain: 'winnow',
      metadata: { param: 'input.spans[0].end' },
    },
  })
  await assertRefused(call('Get', { request_id: 'ü\0' }), 'NOT_FOUND', 'NOT_FOUND')
})

test('grpc: the list is filtered by status and time, and states the metadata', async (t) => {
  const gateway = await startGateway(t)
  const { call } = await startSeparationClient(t, gateway)
  const times: number[] = []
  const ids: string[] = []
  for (const metadata_json of ['{"order":1,"note":"ü"}', undefined, '{}']) {
    const input = { prompt: 'a bell', file_id: await gateway.uploadFile() }
    const accepted = await call('Submit', { input, ...(metadata_json && { metadata_json }) })
    ids.push(accepted.request_id)
    times.push(accepted.created_at_ms)
    gateway.clock.advance(1_000)
  }
  const [first, second, third] = ids as [string, string, string]
  await call('Cancel', { request_id: second })
  const found = async (filters: object) => {
    const { separations } = await call('List', filters)
    return separations.map((one: { request_id: string }) => one.request_id)
  }
  assert.deepEqual(await found({ status: 'STATUS_UNSPECIFIED' }), [third, second, first])
  assert.deepEqual(await found({ status: 'IN_QUEUE' }), [third, first])
  const between = { created_from_ms: times[1], created_before_ms: times[2] }
  assert.deepEqual(await found({ ...between, status: 'FAILED' }), [second])
  for (const [param, filter] of [
    ['status', { status: 99 }],
    ['created_from', { created_from_ms: 9e15 }],
    ['created_before', { created_before_ms: -9e15 }],
  ] as const) {
    await assertRefused(call('List', filter), 'INVALID_ARGUMENT', 'INVALID_PARAMETER', param)
  }
  const page = await call('List', { page_size: 1, status: 'IN_QUEUE' })
  const rest = { page_size: 1, page_token: page.next_page_token, status: 'IN_QUEUE' }
  assert.deepEqual([page.separations[0].request_id, await found(rest)], [third, [first]])
  const { separations } = await call('List', {})
  const metadata = separations.map((one: { metadata_json?: string }) => one.metadata_json)
  assert.deepEqual(metadata, ['{}', undefined, '{"order":1,"note":"ü"}'])
  for (const request_id of [first, second]) {
    const { metadata_json: given } = await call('Get', { request_id })
    assert.equal(given, request_id === first ? '{"order":1,"note":"ü"}' : undefined)
  }
})

test('grpc: calls count against the limit of their key, together with those over HTTP', async (t) => {
  const gateway = await startGateway(t, { rateLimitPerMinute: 5 })
  const { call, watch } = await startSeparationClient(t, gateway)
  const request = { request_id: await gateway.submitted() } // two calls: the file and the submit
  await call('Get', request)
  const watching = watch(request)
  await once(watching, 'data')
  watching.on('error', () => undefined).cancel()
  await call('List', {})
  gateway.clock.advance(40_000)
  for (const method of ['Submit', 'Get', 'Cancel', 'List']) {
    const error = await assertRefused(call(method, request), 'RESOURCE_EXHAUSTED', 'RATE_LIMITED')
    assert.match(error.details, /5 times in a minute, and this is call \d+; retry in 20 seconds/)
    assert.equal(error.metadata.get('winnow-retry-after')[0], '20')
    const { info, retry } = readDetails(error)
    assert.equal(info.reason, 'RATE_LIMITED')
    assert.deepEqual(retry, { retry_delay: { seconds: 20, nanos: 0 } })
  }
  await assertRefused(watch(request).toArray(), 'RESOURCE_EXHAUSTED', 'RATE_LIMITED')
  assert.equal((await gateway.call('GET', '/v1/models')).statusCode, 429)
  const unknown = call('Get', request, { key: 'sep_wrong' })
  await assertRefused(unknown, 'UNAUTHENTICATED', 'UNAUTHENTICATED')
  const other = await gateway.newKey()
  assert.deepEqual((await call('List', {}, { key: other })).separations, [])
  gateway.clock.advance(20_000)
  assert.equal((await call('Get', request)).status, 'IN_QUEUE')
})

/** Reads the google.rpc.Status of an error: its ErrorInfo and, if present, its RetryInfo. */
function readDetails(error: grpc.ServiceError) {
  const types = {
    ...loadProto('google/rpc/status.proto'),
    ...loadProto('google/rpc/error_details.proto'),
  }
  const read = (name: string, bytes: Buffer): any =>
    (types[name] as unknown as { deserialize(bytes: Buffer): object }).deserialize(bytes)
  const bytes = error.metadata.get('grpc-status-details-bin')[0] as Buffer
  const { code, message, details } = read('google.rpc.Status', bytes)
  const [info, retry, ...others] = details
  assert.equal(info.type_url, 'type.googleapis.com/google.rpc.ErrorInfo')
  assert.equal(retry?.type_url ?? '', retry ? 'type.googleapis.com/google.rpc.RetryInfo' : '')
  assert.equal(others.length, 0)
  return {
    code,
    message,
    info: read('google.rpc.ErrorInfo', info.value),
    ...(retry && { retry: read('google.rpc.RetryInfo', retry.value) }),
  }
}

test('grpc: an internal error is INTERNAL, without details', async (t) => {
  const gateway = await startGateway(t)
  const { call } = await startSeparationClient(t, gateway)
  const requestId = await gateway.submitted()
  await loseTable(gateway.store, 'requests')
  const metadata = { 'x-request-id': 'mine' }
  const failing = call('Get', { request_id: requestId }, { metadata })
  const error = await assertRefused(failing, 'INTERNAL', 'INTERNAL')
  assert.ok(!/table|sql|requests/i.test(error.details), error.details)
  assert.equal(error.metadata.get('winnow-request-id')[0], requestId)
})

test('grpc: a request is canceled once, and only by its own account', async (t) => {
  const gateway = await startGateway(t)
  const { call, watch } = await startSeparationClient(t, gateway)
  const request = { request_id: await gateway.submitted() }
  const key = await gateway.newKey()
  for (const method of ['Get', 'Cancel']) {
    await assertRefused(call(method, request, { key }), 'NOT_FOUND', 'NOT_FOUND')
  }
  await assertRefused(watch(request, { key }).toArray(), 'NOT_FOUND', 'NOT_FOUND')
  const canceled = await call('Cancel', request)
  assert.equal(canceled.status, 'FAILED')
  assert.equal(canceled.error.code, 'CANCELED')
  const again = call('Cancel', request)
  const error = await assertRefused(again, 'FAILED_PRECONDITION', 'REQUEST_FINISHED')
  assert.equal(error.metadata.get('winnow-request-id')[0], request.request_id)
  const ended = await watch(request).toArray()
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['FAILED'],
  )
})

test('grpc: a watch that is canceled or past its deadline is forgotten', async (t) => {
  const gateway = await startGateway(t)
  const { watch } = await startSeparationClient(t, gateway)
  const request = { request_id: await gateway.submitted(), interval_seconds: 10 }
  const canceled = watch(request)
  await once(canceled, 'data')
  assert.equal(gateway.feed.watches, 1)
  canceled.on('error', () => undefined).cancel()
  while (gateway.feed.watches > 0) await sleep(5)
  const late = watch(request, { deadlineMs: 200 })
  await assert.rejects(late.toArray(), { code: grpc.status.DEADLINE_EXCEEDED })
  while (gateway.feed.watches > 0) await sleep(5)
})

test('grpc: a call that takes too long ends, by a deadline or without; a watch may last longer', async (t) => {
  const gateway = await startGateway(t, { checkAudioUrl: () => new Promise(() => undefined) })
  const { call, server, watch } = await startSeparationClient(t, gateway, { callMsMax: 100 })
  const input = { prompt: 'x', audio_url: 'https://a.example/x.mp3' }
  await assert.rejects(call('Submit', { input }), { code: grpc.status.DEADLINE_EXCEEDED })
  for (const method of ['Submit', 'Watch']) {
    // They begin with half a message, and nothing more comes.
    const session = connect(`http://${server.address}`)
    const half = session.request({
      ':method': 'POST',
      ':path': `/${SEPARATION_SERVICE}/${method}`,
      'content-type': 'application/grpc',
    })
    half.write(Buffer.from([0, 0, 0, 0, 9, 1]))
    const [headers] = await once(half, 'response')
    assert.equal(headers['grpc-status'], String(grpc.status.DEADLINE_EXCEEDED))
    session.destroy()
  }
  const watching = watch({ request_id: await gateway.submitted(), interval_seconds: 1 })
  assert.equal((await watching.take(2).toArray()).length, 2)
})

test('grpc: a refusal repeats little of a call', async (t) => {
  const gateway = await startGateway(t)
  const { call, watch } = await startSeparationClient(t, gateway)
  const request_id = 'x'.repeat(120_000)
  const audio_url = `https://a.example/${'\u97f3'.repeat(60_000)}`
  for (const refused of [
    () => call('Get', { request_id }, { key: null }),
    () => call('Cancel', { request_id }),
    () => watch({ request_id }, { key: null }).toArray(),
    () => call('List', { page_token: request_id }, { key: null }),
    () => call('Submit', { input: { prompt: 'x', file_id: request_id } }),
    () => call('Submit', { input: { prompt: 'x', audio_url } }),
    () => call('Submit', { input: { prompt: 'x' }, metadata_json: '{"a":'.repeat(20_000) }),
  ]) {
    const error = await refused().then(
      () => assert.fail('it was answered'),
      (error: grpc.ServiceError) => error,
    )
    assert.ok(error.metadata.get('winnow-code')[0], `${error.code}: ${error.details}`)
    assert.ok(error.details.length <= 500, `${error.details.length} characters`)
    assert.equal(error.metadata.get('winnow-request-id')[0], undefined)
  }
})

test('grpc: an account has few watches open, which end with their key or their gateway', async (t) => {
  const gateway = await startGateway(t, { streamsMaxPerAccount: 1 })
  const { watch, server } = await startSeparationClient(t, gateway)
  const request = { request_id: await gateway.submitted(), interval_seconds: 1 }
  const revoke = async (revoked_at: string | null) => {
    await gateway.store.updateTable('api_keys').set({ revoked_at }).execute()
    gateway.clock.advance(1_000) // what was read of the key is no longer fresh
  }
  const first = watch(request)
  await once(first, 'data')
  await assertRefused(watch(request).toArray(), 'RESOURCE_EXHAUSTED', 'RATE_LIMITED')
  await revoke('now')
  await assertRefused(first.toArray(), 'UNAUTHENTICATED', 'UNAUTHENTICATED')

  await revoke(null)
  const last = watch({ ...request, interval_seconds: 10 })
  await once(last, 'data')
  const ended = assert.rejects(last.toArray(), { code: grpc.status.UNAVAILABLE })
  const stopped = server.stop()
  gateway.feed.close()
  await ended
  await stopped
})

test('grpc: calls are identified by x-request-id; messages and connections have limits', async (t) => {
  const gateway = await startGateway(t)
  const { call, watch, server } = await startSeparationClient(t, gateway)
  const request = { request_id: await gateway.submitted() }
  for (const [requestId, expected] of [
    ['mine-1', /^mine-1$/],
    ['a b', /^grpc_[0-9a-f]{32}$/],
  ] as const) {
    const watching = watch(request, { metadata: { 'x-request-id': requestId } })
    const [head] = (await once(watching, 'metadata')) as [grpc.Metadata]
    assert.match(String(head.get('x-request-id')[0]), expected)
    watching.on('error', () => undefined).cancel()
  }
  const huge = call('Submit', { input: { prompt: 'x'.repeat(256 * 1024) } })
  await assert.rejects(huge, { code: grpc.status.RESOURCE_EXHAUSTED })

  const session = connect(`http://${server.address}`)
  t.after(() => session.destroy())
  const [settings] = await once(session, 'remoteSettings')
  assert.equal(settings.maxConcurrentStreams, 1_000, 'a connection may have as many calls at once')
})

test('grpc: health and reflection are served without a key', async (t) => {
  const gateway = await startGateway(t)
  const { server } = await startSeparationClient(t, gateway)
  const connect = <Client>(service: unknown) => {
    const Client = grpc.makeGenericClientConstructor(service as grpc.ServiceDefinition, 'Client')
    const client = new Client(server.address, grpc.credentials.createInsecure())
    t.after(() => client.close())
    return client as Client
  }
  const health = connect<{
    check(request: object, done: (error: unknown, reply: object) => void): void
  }>(healthService)
  const reply = await new Promise((resolve) => {
    health.check({ service: SEPARATION_SERVICE }, (error, answer) => resolve(error ?? answer))
  })
  assert.deepEqual(reply, { status: 'SERVING' })
  const proto = createRequire(import.meta.url).resolve(
    '@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto',
  )
  const { 'grpc.reflection.v1.ServerReflection': service } = loadProto(proto)
  const reflection = connect<{ ServerReflectionInfo(): grpc.ClientDuplexStream<object, any> }>(
    service,
  )
  const asking = reflection.ServerReflectionInfo()
  asking.end({ file_containing_symbol: SEPARATION_SERVICE })
  const [answer] = await asking.toArray()
  const files = Buffer.concat(answer.file_descriptor_response.file_descriptor_proto).toString()
  assert.match(files, /SeparationService/)
})
