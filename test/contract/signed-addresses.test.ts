/** Who can use the signed addresses of media: docs/decisions/api.md. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { signPath, type Audience } from '../../gateway/media-store/signed-url.ts'
import { HOUR_MS } from '../../shared/durations.ts'
import { COPY_NAME, FOLDER_HEADER } from '../../shared/hand-over.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  complete,
  createFileBody,
  FILE_BYTES,
  startGateway,
  submitted,
  uploadFile,
} from '../support/gateway/start-gateway.ts'

const AUDIENCES: readonly (Audience | undefined)[] = ['client', 'engine', undefined]

test('7 each media endpoint refuses addresses that were signed for another use', async (t) => {
  const gateway = await startGateway(t)
  const body = createFileBody({ file_size: FILE_BYTES.length })
  const created = (await gateway.call('POST', '/v1/files', { body })).json()
  const fileId = await uploadFile(gateway)
  const waiting = await submitted(gateway)
  const finished = await submitted(gateway)
  await complete(gateway, finished)
  const { data } = (await gateway.call('GET', `${API}/requests/${finished}/result`)).json()
  const outputPath = new URL(data.target.url).pathname
  const input = `/media/inputs/${created.file_id}`
  const output = `/media/outputs/${waiting}/target`
  const endpoints = [
    { method: 'PUT', path: input, size: FILE_BYTES.length, takes: ['client', undefined] },
    { method: 'GET', path: `/media/inputs/${fileId}`, takes: ['engine', undefined] },
    { method: 'PUT', path: output, takes: ['engine', undefined] },
    { method: 'POST', path: `/media/outputs/${waiting}`, takes: ['engine', undefined] },
    { method: 'GET', path: outputPath, takes: ['client', 'engine', undefined] },
  ] as const
  for (const { method, path, takes, ...size } of endpoints) {
    for (const audience of AUDIENCES) {
      const signed = method === 'POST' ? 'PUT' : method
      const claims = { method: signed, path, expiresAt: gateway.clock.now() + HOUR_MS, ...size }
      const url = signPath(gateway.signingKeys[0], { ...claims, ...(audience && { audience }) })
      const bytes = method === 'PUT' ? { body: FILE_BYTES } : {}
      const reply = await gateway.call(method, url, { key: null, ...bytes })
      const name = `${method} ${path} by ${audience}: ${reply.body}`
      if ((takes as typeof AUDIENCES).includes(audience))
        assert.notEqual(reply.statusCode, 403, name)
      else assertError(reply, 'PERMISSION_DENIED')
    }
  }
  gateway.clock.advance(HOUR_MS + 1)
  assertError(await gateway.call('PUT', created.upload_url, { body: FILE_BYTES }), 'FILE_EXPIRED')
})

test("7 a client's address can't hand anything over to an engine's folder", async (t) => {
  const engineFolder = await mkdtemp(join(tmpdir(), 'scratch-'))
  t.after(() => rm(engineFolder, { recursive: true }))
  const folder = 'job-1-aB9'
  await mkdir(join(engineFolder, folder))
  const gateway = await startGateway(t, { engineFolder })
  const finished = await submitted(gateway)
  await complete(gateway, finished)
  const { data } = (await gateway.call('GET', `${API}/requests/${finished}/result`)).json()
  const headers = { [FOLDER_HEADER]: folder }
  const download = await gateway.call('GET', data.target.url, { key: null, headers })
  assert.equal(download.body, 'target')
  assert.deepEqual(await readdir(join(engineFolder, folder)), [])
  const input = { request_id: finished, output: 'target', prompt: 'a bell' }
  const next = await gateway.call('POST', `${API}/audio/separate`, { body: { input } })
  await gateway.publish()
  const { source } = gateway.broker.jobOf(next.json().request_id)
  assert.equal((await gateway.call('GET', source.url, { key: null, headers })).statusCode, 204)
  assert.deepEqual(await readdir(join(engineFolder, folder)), [COPY_NAME])
})
