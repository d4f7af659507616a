/**
 * Reads and writes media in a bucket by its addresses, like clients and engines:
 * docs/decisions/api.md.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { before, type TestContext } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts'
import type { Bucket } from '../../gateway/media-store/media-store.ts'
import { openBucket } from '../../gateway/media-store/s3.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  FILE_BYTES,
  MEDIA_URL,
  PUBLIC_URL,
  startGateway,
} from '../support/gateway/start-gateway.ts'
import { instead } from '../support/basics/instead.ts'
import { startS3 } from '../support/http/start-s3.ts'

const OTHER_BYTES = Buffer.from('ANOTHER.')

let s3: Awaited<ReturnType<typeof startS3>>
let bucket: Bucket
before(async (t) => {
  s3 = await startS3(t as TestContext)
  useCredentials(t as TestContext, s3.env)
  bucket = await openBucket(s3)
})

test('bytes that arrived in time count, even if nobody asked for them before the deadline', async (t) => {
  const { gateway, create } = await start(t)
  const file = await create()
  assert.equal(await file.put(FILE_BYTES), 200)
  gateway.clock.advance(2 * HOUR_MS)
  await sweep(gateway.deps)
  assert.equal(await file.status(), 'uploaded')
  assert.deepEqual(await pendingUploads(bucket), [])
})

test('if bytes are put twice before anyone asks, the second ones count, and later ones do not', async (t) => {
  const { create } = await start(t)
  const file = await create()
  assert.equal(await file.put(OTHER_BYTES), 200)
  assert.equal(await file.put(FILE_BYTES), 200)
  assert.equal(await file.status(), 'uploaded')
  await file.put(OTHER_BYTES)
  assert.equal(await file.status(), 'uploaded')
  assert.deepEqual(await file.read(), FILE_BYTES)
})

test('an object of the wrong length, if accepted, is not an upload', async (t) => {
  const { gateway, create } = await start(t)
  const file = await create()
  await s3.client.send(
    new PutObjectCommand({ Bucket: s3.bucket, Key: `incoming/inputs/${file.id}`, Body: 'RIFF' }),
  )
  assert.equal(await file.status(), 'pending')
  gateway.clock.advance(2 * HOUR_MS)
  await sweep(gateway.deps)
  assert.equal(await file.status(), 'expired')
  assert.deepEqual(await pendingUploads(bucket), [])
})

test('many concurrent callers all find the file uploaded', async (t) => {
  const { create } = await start(t)
  const file = await create()
  assert.equal(await file.put(FILE_BYTES), 200)
  const statuses = await Promise.all(Array.from({ length: 20 }, () => file.status()))
  assert.deepEqual(new Set(statuses), new Set(['uploaded']))
})

test('a store that does not answer is an internal error, and the request may be repeated', async (t) => {
  let isAway = true
  const pendingUploadOf: typeof bucket.pendingUploadOf = async (key) => {
    if (isAway) throw new Error('the store is away')
    return bucket.pendingUploadOf(key)
  }
  const { create, submit } = await start(t, instead(bucket, { pendingUploadOf }))
  const file = await create()
  assertError(await submit(file), 'QUEUE_UNAVAILABLE')
  isAway = false
  assert.equal(await file.put(FILE_BYTES), 200)
  assert.equal((await submit(file)).statusCode, 202)
})

test('the bytes never touch the gateway, and it answers nothing under /media', async (t) => {
  const { gateway, create } = await start(t)
  const file = await create()
  await file.put(FILE_BYTES)
  assert.equal(await file.status(), 'uploaded')
  assert.equal(new URL(file.url).origin, s3.endpoint)
  const names = await readdir(join(gateway.folder, 'media'), { recursive: true })
  assert.deepEqual(
    names.filter((name) => name.includes('file_')),
    [],
  )
  assertError(await gateway.call('GET', `/media/inputs/${file.id}`), 'NOT_FOUND')
})

test('clients may reach the store at another address than the gateway', async (t) => {
  const publicEndpoint = s3.endpoint.replace('127.0.0.1', 'localhost')
  const { create, submit, gateway } = await start(t, await openBucket({ ...s3, publicEndpoint }))
  const file = await create()
  assert.equal(new URL(file.url).origin, publicEndpoint)
  assert.equal(await file.put(FILE_BYTES), 200)
  const { request_id: requestId } = (await submit(file)).json()
  await gateway.publish()
  const { source, upload_urls: urls } = gateway.broker.jobOf(requestId)
  for (const url of [source.url, urls.target!]) assert.equal(new URL(url).origin, s3.endpoint)
})

test('while the store breaks off connections, calls answer 502 and may be repeated', async (t) => {
  const store = createServer((request, reply) =>
    request.method === 'HEAD' && !request.url?.includes('incoming')
      ? reply.end() // the bucket is there
      : request.socket.resetAndDestroy(),
  )
  await once(store.listen(0, '127.0.0.1'), 'listening')
  t.after(() => store.close())
  const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`
  const { gateway, create } = await start(t, await openBucket({ ...s3, endpoint }))
  const file = await create()
  const reply = await gateway.call('GET', `/v1/files/${file.id}`)
  assertError(reply, 'QUEUE_UNAVAILABLE')
  assert.ok(Number(reply.headers['retry-after']) > 0)
  assert.equal(gateway.logged('error').length, 1)
})

test('a bucket that cannot be used is refused at the start', async (t) => {
  await assert.rejects(openBucket({ ...s3, bucket: 'none-such' }), /bucket none-such can't be used/)
  await assert.rejects(
    openBucket({ ...s3, endpoint: 'http://127.0.0.1:9' }),
    /can't be used \(.*ECONNREFUSED/,
  )
  useCredentials(t, { ...s3.env, AWS_SECRET_ACCESS_KEY: 'wrong' })
  await assert.rejects(openBucket(s3), new RegExp(`bucket ${s3.bucket} can't be used`))
})

test('an upload is read back whole and by range, under its name', async (t) => {
  const { create, submit, gateway, fetch } = await start(t)
  const file = await create({ file_name: 'Kön“zert.m4a' })
  assert.equal(await file.status(), 'pending')
  assertError(await submit(file), 'FILE_NOT_UPLOADED', 'input.file_id')
  assert.equal(await file.put(FILE_BYTES), 200)
  const submitted = await submit(file)
  assert.equal(submitted.statusCode, 202, submitted.body)
  assert.equal(await file.status(), 'uploaded')
  await gateway.publish()
  const { url } = gateway.broker.jobOf(submitted.json().request_id).source
  const whole = await fetch(url)
  assert.equal(whole.status, 200)
  assert.deepEqual(Buffer.from(await whole.arrayBuffer()), FILE_BYTES)
  assert.match(whole.headers.get('content-disposition') ?? '', /filename\*=UTF-8''K%C3%B6n/)
  const part = await fetch(url, { headers: { range: 'bytes=2-5' } })
  assert.equal(part.status, 206)
  assert.equal(await part.text(), 'FF..')
})

test('a body of another length or type is refused, and the file stays pending', async (t) => {
  const { create } = await start(t)
  const file = await create()
  for (const body of [FILE_BYTES.subarray(1), Buffer.concat([FILE_BYTES, FILE_BYTES])]) {
    assert.match(String(await file.put(body)), /^40[03]$/)
  }
  assert.equal(await file.status(), 'pending')
  assert.equal(await file.put(FILE_BYTES), 200)
  assert.equal(await file.status(), 'uploaded')
})

test('a file sent with its prompt is stored whole, or not at all', async (t) => {
  const { gateway, fetch: open } = await start(t)
  const post = (bytes: Uint8Array<ArrayBuffer>) => {
    const body = new FormData()
    body.append('prompt', 'a bell')
    body.append('file', new Blob([bytes], { type: 'audio/wav' }), 'a.wav')
    const headers = { authorization: `Bearer ${gateway.key}` }
    return open(`${PUBLIC_URL}/v1/audio/separate`, { method: 'POST', headers, body })
  }
  const bytes = new Uint8Array(6 * 2 ** 20).map((_, i) => i % 251) // several parts
  const submitted = await post(bytes)
  assert.equal(submitted.status, 202)
  const { request_id: requestId } = (await submitted.json()) as { request_id: string }
  await gateway.publish()
  const source = await open(gateway.broker.jobOf(requestId).source.url)
  assert.deepEqual(new Uint8Array(await source.arrayBuffer()), bytes)
  const before = await keys(bucket)
  assert.equal((await post(new Uint8Array(0))).status, 400)
  assert.deepEqual(await keys(bucket), before)
})

test('an address allows what it was made for and nothing else', async (t) => {
  const { create, fetch } = await start(t)
  const [file, other] = [await create(), await create()]
  const headers = { 'content-type': 'audio/mp4' }
  const put = async (url: string) =>
    (await fetch(url, { method: 'PUT', headers, body: FILE_BYTES })).status
  assert.equal((await fetch(file.url)).status >= 400, true)
  for (const url of [
    file.url.replace(/\?.*/, ''),
    file.url.replaceAll(file.id, other.id),
    file.url.replace(/(signature=)./i, '$1-'),
  ])
    assert.equal(await put(url), 403, url)
  assert.equal(await file.status(), 'pending')
  assert.equal(await other.status(), 'pending')
})

test('engines store outputs, and clients fetch them whole and by range, for their time', async (t) => {
  const { gateway, submitted, store: put, complete, fetch } = await start(t)
  const job = await submitted()
  await put(job, 'of a try that was broken off')
  const { target, residual } = await complete(job)
  for (const [output, bytes] of [
    [target, 'of target'],
    [residual, 'of residual'],
  ] as const) {
    const whole = await fetch(output.url)
    assert.equal(whole.status, 200)
    assert.equal(whole.headers.get('content-type'), 'audio/wav')
    assert.match(whole.headers.get('content-disposition') ?? '', new RegExp(output.file_name))
    assert.equal(await whole.text(), bytes)
    const part = await fetch(output.url, { headers: { range: 'bytes=3-' } })
    assert.equal(part.status, 206)
    assert.equal(await part.text(), bytes.slice(3))
  }
  gateway.clock.advance(7 * DAY_MS)
  await sweep(gateway.deps)
  assert.equal((await fetch(target.url)).status >= 400, true)
  assert.deepEqual(await keys(bucket), [])
})

test('a checkpoint and a live preview go with their request', async (t) => {
  const { gateway, fetch } = await start(t)
  const input = { audio_url: 'https://media.test/long.wav', preview: true }
  const requestId = await gateway.submitted(input)
  const job = gateway.broker.jobOf(requestId)
  const [segment] = job.checkpoint_urls!
  const { put, get } = segment!
  assert.ok((await fetch(get)).status >= 400)
  for (const body of ['a segment', 'a later one']) {
    assert.equal((await fetch(put, { method: 'PUT', body })).status, 200)
    assert.equal(await (await fetch(get)).text(), body)
  }
  const [livePut] = job.live_preview_urls!
  assert.equal((await fetch(livePut!, { method: 'PUT', body: 'a part' })).status, 200)
  await gateway.event('started', requestId)
  await gateway.event('completed', requestId, { duration: 61 })
  await sweep(gateway.deps)
  assert.deepEqual(await keys(bucket), [])
})

test('a file that was never uploaded expires, and accepts no bytes afterwards', async (t) => {
  const { gateway, create } = await start(t)
  const file = await create()
  gateway.clock.advance(HOUR_MS)
  await sweep(gateway.deps)
  assert.equal(await file.status(), 'expired')
  await file.put(FILE_BYTES)
  await sweep(gateway.deps)
  assert.equal(await file.status(), 'expired')
  assert.deepEqual(await keys(bucket), [])
})

test('orphaned media is found and deleted, and nothing else', async (t) => {
  const { gateway, create, complete, submitted, store: put } = await start(t)
  const { target } = await complete()
  const file = await create()
  assert.equal(await file.put(FILE_BYTES), 200)
  assert.equal(await file.status(), 'uploaded')
  const job = await submitted()
  await put(job, 'of a request that the database lost')
  for (const table of ['outbox', 'requests'] as const) {
    await gateway.store.deleteFrom(table).where('request_id', '=', job.request_id).execute()
  }
  const all = await keys(bucket)
  // The engine reported only the sound.
  const referenced = all.filter(
    (key) => !key.includes(job.request_id) && !/peaks|_video$/.test(key),
  )
  await sweepOrphans(gateway.deps)
  assert.deepEqual(await keys(bucket), all)
  gateway.clock.advance(2 * DAY_MS)
  await sweepOrphans(gateway.deps)
  assert.deepEqual(await keys(bucket), referenced)
  assert.ok(target.url, 'the other request has its result')
})

/** Starts a gateway with the bucket, whose clock it shares; returns helpers that use both. */
async function start(t: TestContext, mediaStore = bucket) {
  const gateway = await startGateway(t, { mediaStore })
  gateway.clock.advance(Date.now() - gateway.clock.now())
  const address = await gateway.listen()
  t.after(async () => {
    // The next test uses the same bucket.
    for (const key of await keys(bucket)) await bucket.remove(key)
    for (const key of await pendingUploads(bucket)) await bucket.dropPendingUpload(key)
  })
  const fetchAt = (url: string, init?: RequestInit) =>
    fetch(url.replace(PUBLIC_URL, address).replace(MEDIA_URL, address), init)
  const create = async (fields: object = {}) => {
    const created = (await gateway.createFile(fields)).json()
    const id: string = created.file_id
    const url: string = created.upload_url
    return {
      id,
      url,
      put: async (body: Buffer) =>
        (await fetchAt(url, { method: created.upload_method, headers: created.headers, body }))
          .status,
      status: async () => (await gateway.call('GET', `/v1/files/${id}`)).json().status,
      /** Reads the file as an engine would. */
      read: async () => {
        const download = { key: `inputs/${id}`, audience: 'engine', fileName: 'a' } as const
        const expiresAt = Date.now() + HOUR_MS
        const url = await gateway.deps.mediaStore.downloadUrl({ ...download, expiresAt })
        return Buffer.from(await (await fetchAt(url)).arrayBuffer())
      },
    }
  }
  type File = Awaited<ReturnType<typeof create>>
  const submit = ({ id }: File) => gateway.submit({ file_id: id })
  const submitted = async () => {
    const file = await create()
    assert.equal(await file.put(FILE_BYTES), 200)
    const { request_id: requestId } = (await submit(file)).json()
    await gateway.publish()
    return gateway.broker.jobOf(requestId)
  }
  type Job = Awaited<ReturnType<typeof submitted>>
  const storeOutputs = async (job: Job, text?: string) => {
    for (const [part, url] of Object.entries(job.upload_urls)) {
      const headers = { 'content-type': 'audio/wav' }
      const reply = await fetchAt(url, { method: 'PUT', headers, body: text ?? `of ${part}` })
      assert.equal(reply.status, 200, await reply.text())
    }
  }
  const complete = async (job?: Job) => {
    const completedJob = job ?? (await submitted())
    await storeOutputs(completedJob)
    await gateway.event('started', completedJob.request_id)
    await gateway.event('completed', completedJob.request_id)
    const result = await gateway.getResult(completedJob.request_id)
    return result.json().data
  }
  return { gateway, fetch: fetchAt, create, submit, submitted, store: storeOutputs, complete }
}

async function keys(store: Bucket): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of store.list()) found.push(key)
  return found.sort()
}

async function pendingUploads(bucket: Bucket): Promise<string[]> {
  const found: string[] = []
  for await (const key of bucket.pendingUploads()) found.push(key)
  return found
}

/** Sets variables in which the SDK finds credentials, until the test ends. */
function useCredentials(t: TestContext, env: Readonly<Record<string, string>>): void {
  const before = { ...process.env }
  Object.assign(process.env, env)
  t.after(() => {
    for (const name of Object.keys(env)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })
}
