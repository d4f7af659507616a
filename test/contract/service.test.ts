import assert from 'node:assert/strict'
import test from 'node:test'
import { QueueResultResponse } from '../../gateway/api/result-schemas.ts'
import { QueueSubmitResponse } from '../../gateway/api/schemas.ts'
import { assertShape } from '../support/gateway/assert-shape.ts'
import { API, startGateway, withKey } from '../support/gateway/start-gateway.ts'

test('1.1 to 1.5 a file is uploaded, separated and downloaded', async (t) => {
  const gateway = await startGateway(t)
  const accepted = await gateway.submit({ prompt: '  A Bell. ', output_format: 'wav' })
  assert.equal(accepted.statusCode, 202)
  assertShape(QueueSubmitResponse, accepted.json())
  const { request_id: requestId, status_url, stream_url, result_url } = accepted.json()
  assert.equal((await gateway.call('GET', status_url)).json().status, 'IN_QUEUE')
  await gateway.publish()

  const job = await gateway.complete(requestId)
  assert.equal(job.prompt, 'A Bell.')
  const media = await gateway.call('GET', job.source.url)
  assert.equal(media.body, 'RIFF....')
  assert.match((await gateway.call('GET', stream_url)).body, /"status":"COMPLETED"/)

  const result = await gateway.call('GET', result_url)
  assert.equal(result.statusCode, 200)
  assertShape(QueueResultResponse, result.json())
  const { data, usage, retention } = result.json()
  assert.equal(data.duration, 12.5)
  assert.equal(data.sample_rate, 48_000)
  assert.deepEqual(
    [data.target.file_name, data.residual.file_name],
    ['concert.a-bell.wav', 'concert.rest.without-a-bell.wav'],
  )
  assert.deepEqual(usage, { feature: 'audio_seconds', quantity: 13, billing_status: 'not_metered' })
  assert.equal(Date.parse(retention.delete_after), gateway.clock.now() + 7 * 86_400_000)
  for (const part of ['target', 'residual'] as const) {
    const output = await gateway.call('GET', data[part].url)
    assert.equal(output.statusCode, 200)
    assert.equal(output.body, part)
  }
})

test('1.2 media may be named by URL', async (t) => {
  const asked: string[] = []
  const gateway = await startGateway(t, { checkAudioUrl: async (url) => void asked.push(url) })
  const url = 'https://media.example/a%20b/song.mp3?x=1'
  const requestId = await gateway.submitted({ audio_url: url })
  assert.deepEqual(asked, [url])
  const { source } = gateway.broker.jobOf(requestId)
  assert.deepEqual(source, { kind: 'url', url, file_name: 'song.mp3' })
})

test('1.2 a URL may be written the way people write it, and names the outputs in readable form', async (t) => {
  const gateway = await startGateway(t)
  const names: Record<string, string> = {
    'https://media.example/Füße 100%.mp3': 'Füße 100%.mp3',
    ' https://media.example/F%C3%BC%C3%9Fe%20100%.mp3 ': 'Füße 100%.mp3',
    'https://médiathèque.example/夜/%E5%A4%9C.ogg#t=9': '夜.ogg',
    'https://media.example/?file=a b|c.mp3': 'audio',
  }
  for (const [url, fileName] of Object.entries(names)) {
    const requestId = await gateway.submitted({ audio_url: url })
    const { source } = gateway.broker.jobOf(requestId)
    assert.deepEqual(source, { kind: 'url', url: url.trim(), file_name: fileName })
  }
})

test('1.2 outputs are named after the file name that the server of a URL gives', async (t) => {
  const gateway = await startGateway(t)
  const names: Record<string, string> = {
    'Füße.mp3': 'Füße',
    '../..\\a\u0000b\n.mp3': 'a_b_',
    [`${'x'.repeat(400)}.mp3`]: 'x'.repeat(244),
  }
  const nameOf = async (requestId: string) =>
    (await gateway.getResult(requestId)).json().data.target.file_name
  for (const [source_name, stem] of Object.entries(names)) {
    const requestId = await gateway.submitted({ audio_url: 'https://media.example/get?id=3' })
    await gateway.complete(requestId, { source_name })
    assert.equal(await nameOf(requestId), `${stem}.a-bell.wav`)
  }
  const uploaded = await gateway.submitted()
  await gateway.complete(uploaded, { source_name: 'other.mp3' })
  assert.equal(await nameOf(uploaded), 'concert.a-bell.wav', 'its client has named it')
})

test('1.3 a request is accepted while the broker is down, and queued later', async (t) => {
  const gateway = await startGateway(t)
  gateway.broker.connected = false
  const reply = await gateway.submit()
  assert.equal(reply.statusCode, 202)
  await assert.rejects(gateway.publish())
  assert.equal(gateway.broker.jobs.size, 0)
  gateway.broker.connected = true
  await gateway.publish()
  await gateway.publish() // published jobs are not published again
  assert.equal(gateway.broker.jobs.size, 1)
})

test('1.7 and extension: health needs no key', async (t) => {
  const gateway = await startGateway(t)
  const ready = await gateway.call('GET', '/readyz')
  assert.equal(ready.statusCode, 200)
  assert.deepEqual(ready.json(), {
    status: 'degraded',
    database: true,
    broker: true,
    engines: 0,
    problems: ['No engine is there: requests wait for one.'],
  })
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  assert.equal((await gateway.call('GET', '/readyz')).json().status, 'ready')
  gateway.broker.connected = false
  const without = await gateway.call('GET', '/readyz')
  assert.equal(without.statusCode, 503)
  assert.deepEqual(without.json().problems, ['The broker is away.'])
  gateway.broker.connected = true
  gateway.clock.advance(1_000)
  gateway.free.bytes = -1
  const crammed = await gateway.call('GET', '/readyz')
  assert.deepEqual([crammed.statusCode, crammed.json().status], [200, 'degraded'])
  assert.match(crammed.json().problems.join(), /DATA_DIR has less free than DISK_FREE_MB_MIN/)
  gateway.free.bytes = NaN // as if the disk was gone
  gateway.clock.advance(1_000)
  const unreadable = await gateway.call('GET', '/readyz')
  assert.deepEqual([unreadable.statusCode, unreadable.json().status], [200, 'degraded'])
  assert.match(unreadable.json().problems.join(), /folder of media cannot be read/)
  gateway.free.bytes = Infinity
  gateway.clock.advance(1_000)
  await gateway.store.schema.dropTable('write_probe').execute()
  const unwritable = await gateway.call('GET', '/readyz')
  assert.equal(unwritable.statusCode, 503)
  assert.equal(unwritable.json().database, false)
  assert.match(unwritable.json().problems.join(), /database .* takes no writes/)
  assert.equal((await gateway.call('GET', '/healthz')).statusCode, 200)
})

test("extension: an account's own requests are listed newest first, page by page", async (t) => {
  const gateway = await startGateway(t)
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) {
    ids.unshift((await gateway.submit()).json().request_id)
    if (i % 2) gateway.clock.advance(1) // some share a millisecond
  }
  const otherKey = await gateway.newKey()
  const asOther = withKey(gateway, otherKey)
  await asOther.submit()
  const listed: string[] = []
  let cursor = ''
  do {
    const page = (await gateway.call('GET', `${API}/requests?limit=2&cursor=${cursor}`)).json()
    listed.push(...page.data.map((item: { request_id: string }) => item.request_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  assert.deepEqual([...listed].sort(), [...ids].sort())
  assert.equal(listed[0], ids[0])
})
