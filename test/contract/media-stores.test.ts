/**
 * Reads and writes media by its addresses, like clients and engines, in both media stores:
 * docs/decisions/api.md.
 */

import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { DAY_MS, HOUR_MS } from '../../shared/durations.ts'
import type { Bucket, MediaStore } from '../../gateway/media-store/media-store.ts'
import { openBucket } from '../../gateway/media-store/s3.ts'
import { sweep, sweepOrphans } from '../../gateway/files/sweeper.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import {
  API,
  createFileBody,
  FILE_BYTES,
  MEDIA_URL,
  PUBLIC_URL,
  startGateway,
  submitted as submitRequest,
} from '../support/gateway/start-gateway.ts'
import { instead } from '../support/basics/instead.ts'
import { startS3 } from '../support/http/start-s3.ts'

const OTHER_BYTES = Buffer.from('ANOTHER.')

type Stop = (name: string, work: (t: TestContext) => Promise<void>) => Promise<void>

test('7 media in a folder of this machine', (t) => suite((name, work) => t.test(name, work), null))

test('7 media in a bucket of an S3-compatible store', async (t) => {
  const s3 = await startS3(t)
  useCredentials(t, s3.env)
  const step: Stop = (name, work) => t.test(name, work)
  const bucket = await openBucket(s3)
  const open = (t: TestContext) => start(t, bucket)
  await suite(step, bucket)

  await step(
    'bytes that arrived in time count, even if nobody asked for them before the deadline',
    async (t) => {
      const { gateway, create } = await open(t)
      const file = await create()
      assert.equal(await file.put(FILE_BYTES), 200)
      gateway.clock.advance(2 * HOUR_MS)
      await sweep(gateway.deps)
      assert.equal(await file.status(), 'uploaded')
      assert.deepEqual(await pendingUploads(bucket), [])
    },
  )

  await step('if bytes are put twice before anyone asks, the second ones count', async (t) => {
    const { create } = await open(t)
    const file = await create()
    assert.equal(await file.put(OTHER_BYTES), 200)
    assert.equal(await file.put(FILE_BYTES), 200)
    assert.equal(await file.status(), 'uploaded')
    assert.deepEqual(await file.read(), FILE_BYTES)
  })

  await step('an object of the wrong length, if accepted, is not an upload', async (t) => {
    const { gateway, create } = await open(t)
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

  await step('many concurrent callers all find the file uploaded', async (t) => {
    const { create } = await open(t)
    const file = await create()
    assert.equal(await file.put(FILE_BYTES), 200)
    const statuses = await Promise.all(Array.from({ length: 20 }, () => file.status()))
    assert.deepEqual(new Set(statuses), new Set(['uploaded']))
  })

  await step(
    'a store that does not answer is an internal error, and the request may be repeated',
    async (t) => {
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
    },
  )

  await step(
    'the bytes never touch the gateway, and it answers nothing under /media',
    async (t) => {
      const { gateway, create } = await open(t)
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
    },
  )

  await step('clients may reach the store at another address than the gateway', async (t) => {
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

  await step('a bucket that cannot be used is refused at the start', async (t) => {
    await assert.rejects(
      openBucket({ ...s3, bucket: 'none-such' }),
      /bucket none-such can't be used/,
    )
    await assert.rejects(
      openBucket({ ...s3, endpoint: 'http://127.0.0.1:9' }),
      /can't be used \(.*ECONNREFUSED/,
    )
    useCredentials(t, { ...s3.env, AWS_SECRET_ACCESS_KEY: 'wrong' })
    await assert.rejects(openBucket(s3), new RegExp(`bucket ${s3.bucket} can't be used`))
  })
})

/** Acts as a client, an engine and the sweeper; null stands for the local disk. */
async function suite(step: Stop, store: Bucket | null): Promise<void> {
  await uploadSteps(step, store)
  await outputSteps(step, store)
  await lifetimeSteps(step, store)
}

async function uploadSteps(step: Stop, store: Bucket | null): Promise<void> {
  await step('an upload is read back whole and by range, under its name', async (t) => {
    const { create, submit, gateway, fetch } = await start(t, store)
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

  await step(
    'a body of another length or type is refused, and the file stays pending',
    async (t) => {
      const { create } = await start(t, store)
      const file = await create()
      for (const body of [FILE_BYTES.subarray(1), Buffer.concat([FILE_BYTES, FILE_BYTES])]) {
        assert.match(String(await file.put(body)), /^40[03]$/)
      }
      assert.equal(await file.status(), 'pending')
      assert.equal(await file.put(FILE_BYTES), 200)
      assert.equal(await file.status(), 'uploaded')
    },
  )

  await step('a file sent with its prompt is stored whole, or not at all', async (t) => {
    const { gateway, fetch: open } = await start(t, store)
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
    const media = store ?? gateway.disk
    const before = await keys(media)
    assert.equal((await post(new Uint8Array(0))).status, 400)
    assert.deepEqual(await keys(media), before)
  })

  await step('once a file is uploaded, no further put changes it', async (t) => {
    const { create } = await start(t, store)
    const file = await create()
    assert.equal(await file.put(FILE_BYTES), 200)
    assert.equal(await file.status(), 'uploaded')
    await file.put(OTHER_BYTES)
    assert.equal(await file.status(), 'uploaded')
    assert.deepEqual(await file.read(), FILE_BYTES)
  })

  await step('an address allows what it was made for and nothing else', async (t) => {
    const { create, fetch } = await start(t, store)
    const [file, other] = [await create(), await create()]
    const put = async (url: string) =>
      (
        await fetch(url, {
          method: 'PUT',
          headers: { 'content-type': 'audio/mp4' },
          body: FILE_BYTES,
        })
      ).status
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
}

async function outputSteps(step: Stop, store: Bucket | null): Promise<void> {
  await step('engines store outputs, and clients fetch them whole and by range', async (t) => {
    const { complete, fetch } = await start(t, store)
    const { target, residual } = await complete()
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
  })

  await step('a second attempt replaces what the first one stored', async (t) => {
    const { submitted, store: put, fetch, complete } = await start(t, store)
    const job = await submitted()
    await put(job, 'of a try that was broken off')
    const { target } = await complete(job)
    assert.equal(await (await fetch(target.url)).text(), 'of target')
  })

  await step('a checkpoint and a live preview go with their request', async (t) => {
    const { gateway, fetch } = await start(t, store)
    const input = { audio_url: 'https://media.test/long.wav', preview: true }
    const requestId = await submitRequest(gateway, input)
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
    assert.deepEqual(await keys(gateway.deps.mediaStore), [])
  })
}

async function lifetimeSteps(step: Stop, store: Bucket | null): Promise<void> {
  await step('bytes are removed when their time is over', async (t) => {
    const { gateway, complete, fetch } = await start(t, store)
    const { target } = await complete()
    gateway.clock.advance(7 * DAY_MS)
    await sweep(gateway.deps)
    assert.equal((await fetch(target.url)).status >= 400, true)
    assert.deepEqual(await keys(gateway.deps.mediaStore), [])
  })

  await step(
    'a file that was never uploaded expires, and accepts no bytes afterwards',
    async (t) => {
      const { gateway, create } = await start(t, store)
      const file = await create()
      gateway.clock.advance(HOUR_MS)
      await sweep(gateway.deps)
      assert.equal(await file.status(), 'expired')
      await file.put(FILE_BYTES)
      await sweep(gateway.deps)
      assert.equal(await file.status(), 'expired')
      assert.deepEqual(await keys(gateway.deps.mediaStore), [])
    },
  )

  await step('orphaned media is found and deleted, and nothing else', async (t) => {
    const { gateway, create, complete, submitted, store: put } = await start(t, store)
    const { target } = await complete()
    const file = await create()
    assert.equal(await file.put(FILE_BYTES), 200)
    assert.equal(await file.status(), 'uploaded')
    const job = await submitted()
    await put(job, 'of a request that the database lost')
    for (const table of ['outbox', 'requests'] as const) {
      await gateway.store.deleteFrom(table).where('request_id', '=', job.request_id).execute()
    }
    const all = await keys(gateway.deps.mediaStore)
    // The engine reported only the sound.
    const referenced = all.filter(
      (key) => !key.includes(job.request_id) && !/peaks|_video$/.test(key),
    )
    await sweepOrphans(gateway.deps)
    assert.deepEqual(await keys(gateway.deps.mediaStore), all)
    gateway.clock.advance(2 * DAY_MS)
    await sweepOrphans(gateway.deps)
    assert.deepEqual(await keys(gateway.deps.mediaStore), referenced)
    assert.ok(target.url, 'the other request has its result')
  })
}

/** Starts a gateway with the store, whose clock it shares; returns helpers that use both. */
async function start(t: TestContext, store: Bucket | null) {
  const gateway = await startGateway(t, { ...(store && { mediaStore: store }) })
  gateway.clock.advance(Date.now() - gateway.clock.now())
  const address = await gateway.listen()
  t.after(async () => {
    // The next test uses the same bucket.
    for (const key of store ? await keys(store) : []) await store?.remove(key)
    for (const key of store ? await pendingUploads(store) : []) await store?.dropPendingUpload(key)
  })
  const fetchAt = (url: string, init?: RequestInit) =>
    fetch(url.replace(PUBLIC_URL, address).replace(MEDIA_URL, address), init)
  const create = async (fields: object = {}) => {
    const body = createFileBody(fields)
    const created = (await gateway.call('POST', '/v1/files', { body })).json()
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
  const submit = ({ id }: File) =>
    gateway.call('POST', `${API}/audio/separate`, {
      body: { input: { prompt: 'a bell', file_id: id } },
    })
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
    const result = await gateway.call('GET', `${API}/requests/${completedJob.request_id}/result`)
    return result.json().data
  }
  return { gateway, fetch: fetchAt, create, submit, submitted, store: storeOutputs, complete }
}

async function keys(store: MediaStore): Promise<string[]> {
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
