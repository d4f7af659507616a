/** Files and requests that their owner deletes: docs/decisions/accounts.md. */

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import { PendingUploads } from '../../gateway/files/pending-uploads.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import type { Bucket } from '../../gateway/media-store/media-store.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { meteredAccount } from '../support/gateway/metered.ts'
import { assertRefused, startSeparationClient } from '../support/clients/separation-client.ts'
import {
  API,
  ATTEMPT_ID,
  FILE_BYTES,
  type Gateway,
  outputsOf,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { leftRows, onDisk } from '../support/gateway/stored.ts'
import { webhookSender } from '../support/gateway/webhook-sender.ts'

const removeRequest = (gateway: Pick<Gateway, 'call'>, requestId: string) =>
  gateway.call('DELETE', `${API}/requests/${requestId}`)

const removeFile = (gateway: Pick<Gateway, 'call'>, fileId: string) =>
  gateway.call('DELETE', `/v1/files/${fileId}`)

const getStatus = (gateway: Gateway, requestId: string) =>
  gateway.call('GET', `${API}/requests/${requestId}/status`)

/** Submits a request and publishes its job; returns the ids of the request and its file. */
async function withFile(gateway: Gateway) {
  const fileId = await gateway.uploadFile()
  return { requestId: await gateway.submitted({ file_id: fileId }), fileId }
}

test('extension: a completed request is deleted with its outputs, and its file by itself', async (t) => {
  const gateway = await startGateway(t)
  const { requestId, fileId } = await withFile(gateway)
  await gateway.complete(requestId)
  const { data } = (await gateway.getResult(requestId)).json()
  const reply = await removeRequest(gateway, requestId)
  assert.equal(reply.statusCode, 204, reply.body)
  assert.equal(reply.body, '')
  assert.deepEqual(await onDisk(gateway), [`inputs/${fileId}`])
  for (const path of ['status', 'status/stream', 'result', 'peaks', 'webhook/attempts']) {
    const gone = await gateway.call('GET', `${API}/requests/${requestId}/${path}`)
    assertError(gone, 'NOT_FOUND')
  }
  assertError(await gateway.call('GET', data.target.url), 'NOT_FOUND')
  assertError(await removeRequest(gateway, requestId), 'NOT_FOUND')
  assert.deepEqual((await gateway.call('GET', `${API}/requests`)).json().data, [])

  assert.equal((await removeFile(gateway, fileId)).statusCode, 204)
  assertError(await removeFile(gateway, fileId), 'NOT_FOUND')
  assertError(await gateway.call('GET', `/v1/files/${fileId}`), 'NOT_FOUND')
  assert.deepEqual(await onDisk(gateway), [])
  assert.deepEqual(await leftRows(gateway), [])
})

test('extension: deleting a queued request cancels it first, and removes it from the queue', async (t) => {
  const gateway = await startGateway(t)
  const { own, balance } = await meteredAccount(gateway, 30)
  const requestId = await own.submitted()
  assert.deepEqual(await balance(), [30, 1])
  assert.equal((await removeRequest(own, requestId)).statusCode, 204)
  assert.throws(() => gateway.broker.jobOf(requestId))
  assert.deepEqual(await balance(), [30, 0])
  const usage = (await own.call('GET', '/v1/account/usage')).json()
  assert.equal(usage.data[0].failed, 1, 'usage outlives the request')
})

test('extension: the engine working on a deleted request stops, and brings nothing back', async (t) => {
  const gateway = await startGateway(t)
  gateway.engineRegistry.announced({ engine_id: 'engine-1', control_address: '127.0.0.1:1' })
  const { requestId, fileId } = await withFile(gateway)
  const job = gateway.broker.jobOf(requestId)
  await gateway.event('started', requestId)
  await gateway.uploadOutputs(job, { attemptId: 'attempt-0' })
  assert.equal((await removeRequest(gateway, requestId)).statusCode, 204)
  assert.deepEqual(gateway.canceled, [requestId])
  assert.deepEqual(await onDisk(gateway), [`inputs/${fileId}`])
  // An engine that does not know of the deletion carries on to the end.
  const late = await gateway.putOutput(job.upload_urls.target!, FILE_BYTES)
  assertError(late, 'REQUEST_FINISHED')
  for (const type of ['started', 'measured', 'released', 'failed'] as const) {
    await gateway.event(type, requestId)
  }
  const outputs = outputsOf(job, ATTEMPT_ID)
  await gateway.event('completed', requestId, { outputs })
  assertError(await getStatus(gateway, requestId), 'NOT_FOUND')
  await sweep(gateway.deps)
  assert.deepEqual(await leftRows(gateway), ['files'])
  assert.deepEqual(await onDisk(gateway), [`inputs/${fileId}`])
})

test("extension: bytes stored behind the gateway's back are removed with a late completed event", async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.submitted()
  const job = gateway.broker.jobOf(requestId)
  assert.equal((await removeRequest(gateway, requestId)).statusCode, 204)
  const staged = await gateway.disk.stage(Readable.from([FILE_BYTES]), {
    silentMsMax: 10_000,
    signal: new AbortController().signal,
  })
  await staged.place(`outputs/${requestId}/target`) // as a bucket does at a presigned address
  await gateway.event('completed', requestId, { outputs: outputsOf(job) })
  await sweep(gateway.deps)
  assert.equal((await onDisk(gateway)).filter((path) => path.startsWith('outputs')).length, 0)
})

test('extension: media that a running request needs is only deleted after the request ends', async (t) => {
  const gateway = await startGateway(t)
  const { requestId: first, fileId } = await withFile(gateway)
  const refused = await removeFile(gateway, fileId)
  assertError(refused, 'MEDIA_IN_USE')
  assert.match(refused.json().error.message, new RegExp(first))
  await gateway.complete(first)
  const second = await gateway.submitted({ request_id: first, output: 'residual' })
  assertError(await removeRequest(gateway, first), 'MEDIA_IN_USE')
  assert.equal((await removeFile(gateway, fileId)).statusCode, 204)
  assert.equal((await removeRequest(gateway, second)).statusCode, 204)
  assert.equal((await removeRequest(gateway, first)).statusCode, 204)
  assert.deepEqual(await onDisk(gateway), [])
})

test('extension: a concurrent submit gets the file, or the file is deleted, but never both', async (t) => {
  const gateway = await startGateway(t)
  for (let round = 0; round < 5; round++) {
    const fileId = await gateway.uploadFile()
    const [submitting, deleting] = await Promise.all([
      gateway.submit({ file_id: fileId }),
      removeFile(gateway, fileId),
    ])
    if (submitting.statusCode === 202) assertError(deleting, 'MEDIA_IN_USE')
    else {
      assert.match(submitting.json().error.code, /^(FILE_EXPIRED|INVALID_PARAMETER)$/)
      assert.equal(deleting.statusCode, 204)
    }
  }
})

test('extension: a deleted file that was never uploaded accepts no upload', async (t) => {
  const gateway = await startGateway(t)
  const created = (await gateway.createFile()).json()
  const stage = gateway.disk.stage.bind(gateway.disk)
  gateway.disk.stage = async (...args) => {
    const staged = await stage(...args)
    assert.equal((await removeFile(gateway, created.file_id)).statusCode, 204)
    return staged
  }
  const during = await gateway.call('PUT', created.upload_url, { body: FILE_BYTES })
  assertError(during, 'NOT_FOUND')
  assertError(await gateway.call('PUT', created.upload_url, { body: FILE_BYTES }), 'NOT_FOUND')
  assert.deepEqual(await onDisk(gateway), [])
  assert.deepEqual(await leftRows(gateway), [])
})

test('extension: an upload that a bucket accepts while its file is being deleted leaves nothing behind', async (t) => {
  const gateway = await startGateway(t)
  const created = await gateway.createFile()
  const fileId = created.json().file_id
  const storedKeys = new Set<string>()
  const upload = { bytes: FILE_BYTES.length, arrivedAt: gateway.clock.now() }
  const bucket = {
    kind: 's3',
    pendingUploadOf: async () => upload,
    accept: async () => {
      await removeFile(gateway, fileId)
      storedKeys.add(`inputs/${fileId}`)
      return true
    },
    dropPendingUpload: async () => undefined,
    remove: async (key: string) => void storedKeys.delete(key),
  } as unknown as Bucket
  const uploads = new PendingUploads({ ...gateway.deps, mediaStore: bucket })
  const [file] = await gateway.rows('files')
  await uploads.accept(file!)
  assert.deepEqual([...storedKeys], [])
})

test('extension: bytes that cannot be deleted now are deleted later, even by the next process', async (t) => {
  const gateway = await startGateway(t)
  const requestId = await gateway.completed()
  const { remove } = gateway.disk
  gateway.disk.remove = async () => {
    throw new Error('the disk is away')
  }
  assert.equal((await removeRequest(gateway, requestId)).statusCode, 204)
  assertError(await getStatus(gateway, requestId), 'NOT_FOUND')
  assert.equal((await onDisk(gateway)).length, 6)
  gateway.disk.remove = remove
  await sweep(gateway.deps)
  assert.equal((await onDisk(gateway)).length, 1)
})

test('extension: the webhook of a deleted request is not sent, even if it was about to be', async (t) => {
  const gateway = await startGateway(t)
  const webhookUrl = 'https://hooks.test/x'
  const posts: string[] = []
  const sender = webhookSender(gateway, {
    post: async (url) => {
      posts.push(url)
      assert.equal((await removeRequest(gateway, second)).statusCode, 204)
      return { status: 500, retryAfter: undefined }
    },
  })
  await removeRequest(gateway, await gateway.completed({}, { webhookUrl }))
  await sender.send()
  assert.deepEqual(posts, [])
  const second = await gateway.completed({}, { webhookUrl })
  await sender.send()
  gateway.clock.advance(10 * 60_000)
  await sender.send()
  assert.equal(posts.length, 1, 'the try under way was the last')
  assert.deepEqual(await leftRows(gateway), ['files'])
})

test('grpc: requests and files are deleted, the latter by keys that may write files', async (t) => {
  const gateway = await startGateway(t)
  const { call } = await startSeparationClient(t, gateway)
  const { requestId, fileId } = await withFile(gateway)
  const removeFileWith = (key = gateway.key) => call('DeleteFile', { file_id: fileId }, { key })
  await assertRefused(removeFileWith(), 'FAILED_PRECONDITION', 'MEDIA_IN_USE')
  assert.deepEqual(await call('Delete', { request_id: requestId }), {})
  await assertRefused(call('Delete', { request_id: requestId }), 'NOT_FOUND', 'NOT_FOUND')
  const separating = await gateway.newKey(['audio:separate'])
  await assertRefused(removeFileWith(separating), 'PERMISSION_DENIED', 'PERMISSION_DENIED')
  const stranger = await gateway.newKey(['files:write'])
  await assertRefused(removeFileWith(stranger), 'NOT_FOUND', 'NOT_FOUND')
  assert.deepEqual(await removeFileWith(), {})
  assert.deepEqual(await onDisk(gateway), [])
})
