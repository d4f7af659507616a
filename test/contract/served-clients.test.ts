/** The client packages that a gateway serves (an extension). */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { assertError } from '../support/gateway/assert-shape.ts'
import { PUBLIC_URL, startGateway } from '../support/gateway/start-gateway.ts'

const WHEEL = 'winnow_client-1.2.3-py3-none-any.whl'

test('the clients are listed and served without a key, by their hashes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'clients-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'winnow-client-1.2.3.tgz'), 'a package')
  await writeFile(join(folder, WHEEL), 'a wheel')
  await writeFile(join(folder, '.made-of'), 'no package')
  const { app } = await startGateway(t, { config: { clientsFolder: folder } })
  const { data } = (await app.inject('/clients')).json()
  const sha256 = createHash('sha256').update('a wheel').digest('hex')
  assert.deepEqual(data[1], {
    language: 'python',
    file_name: WHEEL,
    sha256,
    file_size: 7,
    url: `${PUBLIC_URL}/clients/${WHEEL}`,
  })
  const wheel = await app.inject(`/clients/${WHEEL}`)
  assert.deepEqual([wheel.statusCode, wheel.body], [200, 'a wheel'])
  const head = await app.inject({ method: 'HEAD', url: `/clients/${WHEEL}` })
  assert.deepEqual([head.statusCode, head.headers['content-length'], head.body], [200, '7', ''])
  const etag = String(head.headers.etag)
  assert.equal(etag, `"${sha256}"`)
  const again = await app.inject({ url: `/clients/${WHEEL}`, headers: { 'if-none-match': etag } })
  assert.equal(again.statusCode, 304)
  const moved = await app.inject('/clients/winnow_client.whl')
  assert.deepEqual([moved.statusCode, moved.headers.location], [302, WHEEL])
  const tarball = await app.inject('/clients/winnow-client.tgz')
  assert.equal(tarball.headers.location, 'winnow-client-1.2.3.tgz')
  for (const name of ['.made-of', 'winnow-client-1.2.2.tgz', '..%2Fsecret']) {
    assertError(await app.inject(`/clients/${name}`), 'NOT_FOUND')
  }
})

test('the address says so if the clients are not packed', async (t) => {
  const { app } = await startGateway(t)
  assert.deepEqual((await app.inject('/clients')).json().data, [])
  const reply = await app.inject('/clients/winnow-client.tgz')
  assertError(reply, 'NOT_FOUND')
  assert.match(reply.json().error.message, /npm run setup/)
})
