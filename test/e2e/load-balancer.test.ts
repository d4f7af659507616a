/**
 * The fleet of docs/how-to/cluster.md: HAProxy with the files of ops/ in front of two gateways, one
 * PostgreSQL, and three broker servers with those of ops/. All calls go through the balancer, as from
 * other hosts.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { examplePath } from '../support/media/examples.ts'
import { startLoad } from '../support/processes/follow-load.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { separationClient } from '../support/clients/separation-client.ts'
import { startCluster } from '../support/broker/start-cluster.ts'
import { startHaproxy } from '../support/machine/start-haproxy.ts'
import { createDatabase } from '../support/database/start-postgres.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'
import { TLS_FILES } from '../support/http/tls-files.ts'

const SOURCE = examplePath('speech-over-piano.wav')
/** Requests between two events, enough for each gateway to take some. */
const SUBMITTED_BETWEEN = 15
/** Half of an upload: more than the sockets on the way can buffer. */
const HALF_BYTES = 32 * 2 ** 20

/** Makes other processes trust the balancer. */
const TRUST = { NODE_EXTRA_CA_CERTS: TLS_FILES.certificate }

/** Starts everything but an engine. */
async function startFleet(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'load-balancer-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const keys = { SIGNING_KEY_FILE: 'signing-key', ENCRYPTION_KEY_FILE: 'encryption-key' }
  const keyFiles = Object.entries(keys).map(([setting, name]) => [setting, join(folder, name)])
  for (const [, path] of keyFiles) {
    await writeFile(path!, randomBytes(32).toString('base64url'), { mode: 0o600 })
  }
  const [http, https, grpc, ...rest] = await freePorts(7)
  const url = `https://localhost:${https}`
  const gateways = [
    { http: rest[0]!, grpc: rest[1]! },
    { http: rest[2]!, grpc: rest[3]! },
  ] as const
  const settings = gateways.map((ports) => ({
    PORT: String(ports.http),
    GRPC_PORT: String(ports.grpc),
  }))
  const balancer = await startHaproxy(t, {
    ports: { http: http!, https: https!, grpc: grpc! },
    gateways,
  })
  const cluster = await startCluster(t)
  const winnow = await startWinnow(t, {
    engines: 0,
    engineEnv: cluster.engineEnv,
    env: {
      ...cluster.env,
      ...TRUST,
      ...settings[0],
      ...Object.fromEntries(keyFiles),
      DATABASE_URL: await createDatabase(t),
      PUBLIC_URL: url,
      MEDIA_URL: url,
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      JOBS_MAX: '4',
      TRUSTED_PROXIES: '127.0.0.1/32',
    },
  })
  const programs = [winnow.gateway, await winnow.startGateway(settings[1])]
  return {
    folder,
    balancer,
    cluster,
    winnow,
    url,
    plainUrl: `http://127.0.0.1:${http}`,
    grpcAddress: `127.0.0.1:${grpc}`,
    gatewayLines: () => programs.flatMap(({ log }) => log().split('\n')),
    stop: (index: number) => programs[index]!.end('SIGTERM'),
    async start(index: number) {
      programs[index] = await winnow.startGateway(settings[index])
    },
  }
}

type Fleet = Awaited<ReturnType<typeof startFleet>>

interface Call {
  method?: string
  headers?: Record<string, string>
  localAddress?: string
}

/** Starts a call to the balancer, and leaves its body open. */
function startCall(url: string, { method = 'GET', headers = {}, localAddress }: Call) {
  const call = requestHttps(url, {
    method,
    localAddress,
    ca: [CERTIFICATE],
    headers: { authorization: `Bearer ${API_KEY}`, ...headers },
  })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve)
    call.once('error', reject)
  })
  return { call, response }
}

const CERTIFICATE = await readFile(TLS_FILES.certificate, 'utf8')

/** @throws AssertionError if the answer has another status */
async function post(url: string, body: object, status: number): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json' }
  const { call, response } = startCall(url, { method: 'POST', headers })
  call.end(JSON.stringify(body))
  const message = await response
  const fields = (await json(message)) as Record<string, string>
  assert.equal(message.statusCode, status, JSON.stringify(fields))
  return fields
}

const createFile = (url: string, bytes: number) =>
  post(
    `${url}/v1/files`,
    {
      file_name: 'mix.wav',
      content_type: 'audio/wav',
      file_size: bytes,
      purpose: 'audio.separate.input',
    },
    201,
  )

/** Uploads the source; returns its file id. */
async function upload({ url }: Fleet, bytes: Buffer): Promise<string> {
  const { file_id: fileId, upload_url: to } = await createFile(url, bytes.length)
  const { call, response } = startCall(to!, {
    method: 'PUT',
    headers: { 'content-type': 'audio/wav' },
  })
  call.end(bytes)
  assert.equal((await response).statusCode, 200)
  return fileId!
}

const submit = ({ url }: Fleet, fileId: string) =>
  post(`${url}/v1/queue/audio/separate`, { input: { prompt: 'piano', file_id: fileId } }, 202)

/** Returns everything that a status stream sends until its end. */
async function follow(
  stream: string,
  onText: (received: string) => Promise<void> = async () => {},
) {
  const { call, response } = startCall(stream, {})
  call.end()
  let received = ''
  for await (const text of (await response).setEncoding('utf8')) {
    received += text
    await onText(received)
  }
  return received
}

/** Returns the total size in bytes of the files below a folder. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

test('a fleet behind the balancer of ops/', async (t) => {
  const fleet = await startFleet(t)
  const { winnow, url } = fleet

  await t.test('a call over http is redirected to https', async () => {
    const call = requestHttp(`${fleet.plainUrl}/v1/models`).end()
    const response = await new Promise<IncomingMessage>((resolve) => call.once('response', resolve))
    assert.equal(response.statusCode, 308)
    assert.match(response.headers.location ?? '', /^https:\/\/127\.0\.0\.1\/?:?\d*\/v1\/models$/)
    response.resume()
  })

  await t.test('a gateway logs the real address of a client, whatever it claims', async () => {
    const headers = { 'x-request-id': 'from-elsewhere', 'x-forwarded-for': '203.0.113.7' }
    const { call, response } = startCall(`${url}/v1/models`, { headers, localAddress: '127.0.0.2' })
    call.end()
    assert.equal((await response).resume().statusCode, 200)
    const find = () =>
      fleet.gatewayLines().find((line) => line.includes('"callId":"from-elsewhere"'))
    while (!find()) await sleep(50)
    assert.match(find()!, /"client":"127\.0\.0\.2"/)
  })

  await t.test(
    'the first bytes of an upload reach a gateway before the last ones are sent',
    async () => {
      const { upload_url: to } = await createFile(url, 2 * HALF_BYTES)
      const headers = { 'content-type': 'audio/wav', 'content-length': String(2 * HALF_BYTES) }
      const { call, response } = startCall(to!, { method: 'PUT', headers })
      call.write(Buffer.alloc(HALF_BYTES))
      const media = join(winnow.folder, 'media')
      while ((await bytesIn(media)) < HALF_BYTES) await sleep(50)
      call.end(Buffer.alloc(HALF_BYTES))
      assert.equal((await response).statusCode, 200)
    },
  )

  await t.test(
    'a status stream reports at once that a request waits, and later that it ended',
    async () => {
      const fileId = await upload(fleet, await readFile(SOURCE))
      const { stream_url: stream } = await submit(fleet, fileId)
      const received = await follow(stream!, async (soFar) => {
        // No engine runs yet, so this text arrived before the stream's end.
        if (winnow.engines.length === 0 && soFar.includes('"IN_QUEUE"')) await winnow.startEngine()
      })
      assert.match(received, /"status":"COMPLETED"/)
    },
  )

  await t.test('gRPC: a request is submitted and watched to its end', async () => {
    const client = separationClient(fleet.grpcAddress, API_KEY)
    t.after(() => client.close())
    const fileId = await upload(fleet, await readFile(SOURCE))
    const submitted = await client.call('Submit', { input: { prompt: 'piano', file_id: fileId } })
    const statuses: string[] = []
    for await (const { status } of client.watch({ request_id: submitted.request_id })!) {
      statuses.push(status)
    }
    assert.equal(statuses.at(-1), 'COMPLETED')
  })

  await t.test('no call fails while gateways are stopped in turn under load', async () => {
    const load = await startLoad(t, url, fleet.folder, TRUST)
    await load.submitMore(SUBMITTED_BETWEEN)
    for (const index of [0, 1]) {
      assert.equal(await fleet.stop(index), 0)
      await load.submitMore(SUBMITTED_BETWEEN) // only the other gateway runs
      await fleet.start(index)
      await load.submitMore(SUBMITTED_BETWEEN)
    }
    const report = await load.finish()
    t.diagnostic(JSON.stringify(report))
    assert.deepEqual(report.failures, [])
    assert.equal(report.completed, report.submitted)
    assert.equal(report.webhooks, report.submitted)
  })

  await t.test('without a broker no gateway is ready, but requests are accepted', async () => {
    const fileId = await upload(fleet, await readFile(SOURCE))
    const { cluster, balancer } = fleet
    const before = balancer.log().length
    const isDown = (server: string) => {
      const [down, up] = ['DOWN', 'UP'].map((state) =>
        balancer.log().lastIndexOf(`Server gateways/${server} is ${state}`),
      )
      return down! > up!
    }
    let stream = ''
    const withoutBroker = async () => {
      while (!isDown('one') || !isDown('two')) await sleep(100)
      stream = (await submit(fleet, fileId)).stream_url!
    }
    await cluster.restart(0, () => cluster.restart(1, () => cluster.restart(2, withoutBroker)))
    assert.match(balancer.log().slice(before), / gateways\/(one|two)-unready 202 /)
    assert.match(await follow(stream), /"status":"COMPLETED"/)
  })

  await t.test('both gateways get calls, and the log contains no secrets', () => {
    const log = fleet.balancer.log()
    for (const server of ['one', 'two']) assert.match(log, new RegExp(` gateways/${server} 202 `))
    assert.match(log, / PUT \/media\//)
    assert.doesNotMatch(log, /signature=/)
  })
})
