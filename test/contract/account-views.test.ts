/** Extensions: what an account sees of its requests, files, use and pages of other origins. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { ATTEMPTS_KEPT_MAX, insertAttempt } from '../../gateway/store/delivery-attempts.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, byAnother, startGateway } from '../support/gateway/start-gateway.ts'

const DAY_MS = 86_400_000

test('metadata is in status, list and result, and nowhere where none was given', async (t) => {
  const gateway = await startGateway(t)
  const metadata = { order: 17, deep: [{ a: null }] }
  const id = await gateway.submitted({}, { metadata })
  assert.deepEqual((await gateway.statusOf(id)).metadata, metadata)
  await gateway.complete(id)
  assert.deepEqual((await gateway.getResult(id)).json().metadata, metadata)
  gateway.clock.advance(1_000)
  const plain = await gateway.submitted()
  assert.equal('metadata' in (await gateway.statusOf(plain)), false)
  const { data } = (await gateway.call('GET', `${API}/requests`)).json()
  assert.deepEqual(
    data.map((request: { metadata?: object }) => request.metadata),
    [undefined, metadata],
  )
})

test('a list of requests is narrowed to a status and times, page by page', async (t) => {
  const gateway = await startGateway(t)
  const ids: string[] = []
  for (let day = 0; day < 4; day += 1) {
    ids.push(await gateway.submitted())
    gateway.clock.advance(DAY_MS)
  }
  await gateway.event('started', ids[1]!)
  await gateway.event('failed', ids[1]!)
  const start = gateway.clock.now() - 4 * DAY_MS
  const time = (day: number) => encodeURIComponent(new Date(start + day * DAY_MS).toISOString())
  const list = (query: string) => gateway.call('GET', `${API}/requests?${query}`)
  const found = async (query: string) =>
    (await list(query)).json().data.map((request: any) => ids.indexOf(request.request_id))
  assert.deepEqual(await found('status=FAILED'), [1])
  assert.deepEqual(await found('status=IN_QUEUE'), [3, 2, 0])
  assert.deepEqual(await found(`created_from=${time(1)}`), [3, 2, 1])
  assert.deepEqual(await found(`created_before=${time(1)}`), [0])
  const both = `created_from=${time(1)}&created_before=${time(3)}&status=IN_QUEUE`
  assert.deepEqual(await found(both), [2])
  const first = (await list('status=IN_QUEUE&limit=2')).json()
  assert.equal(first.data.length, 2)
  assert.deepEqual(await found(`status=IN_QUEUE&limit=2&cursor=${first.next_cursor}`), [0])
  for (const [query, param] of [
    ['status=DONE', 'status'],
    ['status=FAILED&status=IN_QUEUE', 'status'],
    ['created_from=yesterday', 'created_from'],
    ['created_before=2026-01-31', 'created_before'],
    ['created_before=2026-13-31T00:00:00Z', 'created_before'],
  ] as const) {
    assertError(await list(query), 'INVALID_PARAMETER', param)
  }
})

test("a list of files has the account's own, newest first, page by page", async (t) => {
  const gateway = await startGateway(t)
  const ids: string[] = []
  for (let i = 0; i < 3; i += 1) {
    ids.push(await gateway.uploadFile())
    gateway.clock.advance(1_000)
  }
  const pending = await gateway.createFile()
  ids.push(pending.json().file_id)
  const list = async (query = '') => (await gateway.call('GET', `/v1/files${query}`)).json()
  const all = await list()
  assert.deepEqual(
    all.data.map((file: any) => [ids.indexOf(file.file_id), file.status]),
    [
      [3, 'pending'],
      [2, 'uploaded'],
      [1, 'uploaded'],
      [0, 'uploaded'],
    ],
  )
  assert.equal(all.next_cursor, null)
  const one = await gateway.call('GET', `/v1/files/${ids[2]}`)
  assert.deepEqual(all.data[1], one.json())
  const first = await list('?limit=3')
  const second = await list(`?limit=3&cursor=${first.next_cursor}`)
  assert.deepEqual([...first.data, ...second.data], all.data)
  assert.equal((await list('?limit=100000')).data.length, 4)
  const { call: other } = await byAnother(gateway)
  assert.deepEqual((await other('GET', '/v1/files')).json().data, [])
  const scopeless = { key: await gateway.newKey(['audio:separate']) }
  assertError(await gateway.call('GET', '/v1/files', scopeless), 'PERMISSION_DENIED')
})

test('usage by day counts what ended, and survives the records of requests', async (t) => {
  const gateway = await startGateway(t)
  const usage = (query = '') => gateway.call('GET', `/v1/account/usage${query}`)
  const day = () => new Date(gateway.clock.now()).toISOString().slice(0, 10)
  const first = day()
  for (const end of ['completed', 'completed', 'failed'] as const) {
    const id = await gateway.submitted()
    await gateway.event('started', id)
    await gateway.event(end, id)
    await gateway.event(end, id) // which changes nothing
  }
  gateway.clock.advance(DAY_MS)
  const several = await gateway.submitted({ prompts: ['a', 'b'] })
  await gateway.complete(several)
  await gateway.store.deleteFrom('requests').execute()
  const { from, to, data } = (await usage()).json()
  assert.equal(to, day())
  assert.equal(Date.parse(to) - Date.parse(from), 29 * DAY_MS)
  assert.deepEqual(data, [
    { day: first, completed: 2, failed: 1, audio_seconds: 26 },
    { day: day(), completed: 1, failed: 0, audio_seconds: 26 },
  ])
  assert.deepEqual((await usage(`?from=${first}&to=${first}`)).json().data, [data[0]])
  const other = { key: await gateway.newKey(['models:read']) }
  assert.deepEqual((await gateway.call('GET', '/v1/account/usage', other)).json().data, [])
  assert.equal((await usage('?from=2024-01-01&to=2024-12-31')).statusCode, 200, '366 days')
  for (const [query, param] of [
    ['?from=2024-01-01&to=2025-01-01', 'from'],
    ['?from=2026-02-02&to=2026-02-01', 'from'],
    ['?to=2026-02-30', 'to'],
    ['?to=', 'to'],
    ['?from=today', 'from'],
  ] as const) {
    assertError(await usage(query), 'INVALID_PARAMETER', param)
  }
})

test('pages of given origins may call the API and get media, others may not', async (t) => {
  const origin = 'https://app.example.com'
  const gateway = await startGateway(t, { config: { corsOrigins: [origin] } })
  const ask = (method: 'OPTIONS' | 'GET', url: string, from: string) =>
    gateway.call(method, url, {
      headers: { origin: from, 'access-control-request-method': 'POST' },
    })
  const allowed = await ask('OPTIONS', `${API}/audio/separate`, origin)
  assert.equal(allowed.statusCode, 204)
  assert.equal(allowed.headers['access-control-allow-origin'], origin)
  assert.match(
    String(allowed.headers['access-control-allow-headers']),
    /idempotency-key, prefer, range/,
  )
  assert.equal(allowed.headers['access-control-allow-credentials'], undefined)
  const called = await ask('GET', '/v1/account', origin)
  assert.equal(called.headers['access-control-allow-origin'], origin)
  for (const name of ['preference-applied', 'ratelimit-remaining', 'retry-after']) {
    assert.ok(String(called.headers['access-control-expose-headers']).includes(name), name)
  }
  const refused = await gateway.call('GET', '/v1/account', { key: null, headers: { origin } })
  assert.equal(refused.statusCode, 401)
  assert.equal(refused.headers['access-control-allow-origin'], origin, 'errors can be read, too')
  const created = await gateway.createFile()
  const upload = await ask('OPTIONS', new URL(created.json().upload_url).pathname, origin)
  assert.equal(upload.statusCode, 204)
  for (const other of ['https://evil.example', 'null', `${origin}.evil.example`]) {
    const response = await ask('GET', '/v1/account', other)
    assert.equal(response.headers['access-control-allow-origin'], undefined, other)
    assert.equal(response.headers.vary, 'origin')
  }
  for (const url of ['/playground/session', '/admin/accounts', '/healthz']) {
    const response = await ask('OPTIONS', url, origin)
    assert.equal(response.headers['access-control-allow-origin'], undefined, url)
  }
  const closed = await startGateway(t)
  const none = await closed.call('GET', '/v1/account', { headers: { origin } })
  assert.equal(none.headers['access-control-allow-origin'], undefined)
  assert.equal(none.headers.vary, undefined)
})

test('of the attempts of a delivery the last are kept', async (t) => {
  const gateway = await startGateway(t)
  const id = await gateway.failed({}, { webhookUrl: 'https://hooks.example/' })
  const list = () => gateway.call('GET', `${API}/requests/${id}/webhook/attempts`)
  assert.deepEqual((await list()).json(), { object: 'list', data: [] })
  const [delivery] = await gateway.rows('deliveries')
  for (let i = 0; i < ATTEMPTS_KEPT_MAX + 3; i += 1) {
    await insertAttempt(gateway.store, {
      attempt_id: `try_${i}`,
      webhook_id: delivery!.webhook_id,
      started_at: new Date(i * 1_000).toISOString(),
      duration_ms: i,
      status_code: null,
      error: 'no',
    })
  }
  const { data } = (await list()).json()
  assert.equal(data.length, ATTEMPTS_KEPT_MAX)
  assert.deepEqual([data[0].duration_ms, data.at(-1).duration_ms], [3, ATTEMPTS_KEPT_MAX + 2])
  assert.equal((await gateway.rows('delivery_attempts')).length, ATTEMPTS_KEPT_MAX)
  const plain = await gateway.submitted()
  assertError(await gateway.call('GET', `${API}/requests/${plain}/webhook/attempts`), 'NOT_FOUND')
  await gateway.store.deleteFrom('requests').execute()
  assert.deepEqual(await gateway.rows('delivery_attempts'), [], 'they go with their request')
})

test('a renamed request has its name in lists, and its outputs have it', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const path = `${API}/requests/${requestId}`
  const rename = (body: unknown, key = gateway.key) => gateway.call('PATCH', path, { body, key })
  const nameInList = async () =>
    (await gateway.call('GET', `${API}/requests`)).json().data[0].file_name
  for (const name of ['First take.m4a', 'a'.repeat(255), 'second/take.m4a']) {
    const renamed = await rename({ file_name: name })
    assert.deepEqual(renamed.json(), { request_id: requestId, file_name: name })
    assert.equal(await nameInList(), name)
  }
  await gateway.complete(requestId)
  await rename({ file_name: 'Grüße.m4a' })
  const { target } = (await gateway.getResult(requestId)).json().data
  assert.match(target.file_name, /^Grüße\..+\.wav$/)

  for (const [body, param] of [
    [{ file_name: '' }, 'file_name'],
    [{ file_name: 'a'.repeat(256) }, 'file_name'],
    [{ file_name: 'a\0b' }, 'file_name'],
    [{ file_name: 5 }, 'file_name'],
    [{ file_name: 'x', prompt: 'y' }, 'prompt'],
    [{}, 'file_name'],
  ] as const) {
    const refused = await rename(body)
    assert.deepEqual([refused.statusCode, refused.json().error.param], [400, param])
  }
  assertError(await rename({ file_name: 'x' }, await gateway.newKey()), 'NOT_FOUND')
  const reader = await gateway.newKey(['files:read'])
  assertError(await rename({ file_name: 'x' }, reader), 'PERMISSION_DENIED')
  assert.equal(await nameInList(), 'Grüße.m4a')
})

test('the name that a server gives to its file does not replace that of the owner', async (t) => {
  const gateway = await startGateway(t)
  const input = { audio_url: 'https://media.test/8421' }
  for (const [name, wanted] of [
    [null, 'Interview.mp3'],
    ['Mine.mp3', 'Mine.mp3'],
  ]) {
    const requestId = await gateway.submitted(input)
    const path = `${API}/requests/${requestId}`
    if (name !== null) await gateway.call('PATCH', path, { body: { file_name: name } })
    await gateway.event('completed', requestId, { source_name: 'Interview.mp3' })
    const { data } = (await gateway.call('GET', `${API}/requests`)).json()
    assert.equal(data[0].file_name, wanted)
    gateway.clock.advance(1_000)
  }
})
