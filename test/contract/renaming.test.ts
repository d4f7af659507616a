/** Requests that their owner renames: docs/how-to/api.md. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { assertError } from '../support/gateway/assert-shape.ts'
import { API, complete, startGateway, submitted } from '../support/gateway/start-gateway.ts'

test('a renamed request has its name in lists, and its outputs have it', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await submitted(gateway)
  const path = `${API}/requests/${requestId}`
  const rename = (body: unknown, key = gateway.key) => gateway.call('PATCH', path, { body, key })
  const nameInList = async () =>
    (await gateway.call('GET', `${API}/requests`)).json().data[0].file_name
  for (const name of ['First take.m4a', 'a'.repeat(255), 'second/take.m4a']) {
    const renamed = await rename({ file_name: name })
    assert.deepEqual(renamed.json(), { request_id: requestId, file_name: name })
    assert.equal(await nameInList(), name)
  }
  await complete(gateway, requestId)
  await rename({ file_name: 'Grüße.m4a' })
  const { target } = (await gateway.call('GET', `${path}/result`)).json().data
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
    const requestId = await submitted(gateway, input)
    const path = `${API}/requests/${requestId}`
    if (name !== null) await gateway.call('PATCH', path, { body: { file_name: name } })
    await gateway.event('completed', requestId, { source_name: 'Interview.mp3' })
    const { data } = (await gateway.call('GET', `${API}/requests`)).json()
    assert.equal(data[0].file_name, wanted)
    gateway.clock.advance(1_000)
  }
})
