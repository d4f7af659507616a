/**
 * Makes a gateway for contract tests: the real application and database, without a port or an
 * engine.
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { KyselyPlugin } from 'kysely'
import { pino } from 'pino'
import { isoTime } from '../../../shared/clock.ts'
import { newId } from '../../../shared/ids.ts'
import type { Event, Job } from '../../../shared/messages.ts'
import { ATTEMPT_HEADER, PLACE_HEADER } from '../../../shared/output-places.ts'
import { buildApp } from '../../../gateway/app.ts'
import {
  hashApiKey,
  newApiKey,
  newKeyId,
  SCOPES,
  type Scope,
} from '../../../gateway/accounts/auth.ts'
import { createEventHandler } from '../../../gateway/requests/follow/event-follower.ts'
import type { GatewayConfig } from '../../../gateway/config.ts'
import { createGateway, type GatewayDeps } from '../../../gateway/gateway.ts'
import type { Keys } from '../../../gateway/secrets.ts'
import type { EngineClient } from '../../../gateway/operations/engine-registry.ts'
import { publishWaiting } from '../../../gateway/requests/submit/job-publisher.ts'
import { openLocalDisk } from '../../../gateway/media-store/local-disk.ts'
import { Metrics } from '../../../gateway/operations/metrics.ts'
import type { PublicPost } from '../../../gateway/webhooks/public-post.ts'
import { ensureAccount } from '../../../gateway/store/accounts.ts'
import { putApiKey } from '../../../gateway/store/api-keys.ts'
import type { Tables } from '../../../gateway/store/schema/tables.ts'
import {
  createTestDatabase,
  openTestDatabase,
  type DatabaseKind,
  type DatabasePlace,
} from '../database/test-database.ts'
import { FakeClock } from '../basics/fake-clock.ts'
import { MemoryBroker } from '../broker/memory-broker.ts'
import { NO_MODELS } from '../no-models.ts'

export const PUBLIC_URL = 'http://winnow.test'
export const MEDIA_URL = 'http://media.test'
export const API = '/v1/queue'

/** The parts that several gateways of one service share. */
interface SharedParts {
  folder: string
  database: DatabasePlace
  broker: MemoryBroker
  clock: FakeClock
  signingKeys: Keys
  deps: Pick<GatewayDeps, 'config'>
}

export interface GatewayOptions {
  /** By default the environment decides. */
  database?: DatabaseKind
  /** Another gateway whose database, media, broker, clock and keys this one shares. */
  beside?: SharedParts
  /** Defaults to those of the other gateway, or to new ones. */
  encryptionKeys?: Keys
  signingKeys?: Keys
  config?: Partial<GatewayConfig>
  /** Calls per minute that each key may make; unlimited by default. */
  rateLimitPerMinute?: number
  streamsMaxPerAccount?: number
  checkAudioUrl?: GatewayDeps['checkAudioUrl']
  checkWebhookUrl?: GatewayDeps['checkWebhookUrl']
  /** Replaces the function that posts to webhook receivers. */
  postWebhook?: PublicPost['post']
  /** SCRATCH_DIR of the engines on the same host. */
  engineFolder?: string
  /** Defaults to `disk`. */
  mediaStore?: GatewayDeps['mediaStore']
  /** Sees every statement except those that begin and end transactions. */
  plugin?: KyselyPlugin
  /** The client of every engine, or a function that returns the client for an address. */
  engine?: EngineClient | ((address: string) => EngineClient)
}

type Opened = Awaited<ReturnType<typeof openGateway>>
export type Gateway = ReturnType<typeof withActions>

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>

const CONFIG: Omit<
  GatewayConfig,
  'adminUrl' | 'encryptionKeys' | 'rateLimitPerMinute' | 'streamsMaxPerAccount'
> = {
  falApi: 'on',
  playground: 'on',
  playgroundFolder: 'no-folder',
  clientsFolder: 'no-folder',
  docsFolder: 'no-folder',
  mediaOrigins: [],
  corsOrigins: [],
  publicUrl: () => PUBLIC_URL,
  hasAdminAddress: false,
  uploadMinutes: 60,
  fileHours: 24,
  outputDays: 7,
  bodySecondsMax: 30,
  connectionsMax: 1_000,
  trustedProxies: [],
  filesMaxPerAccount: 1_000,
  mediaBytesMaxPerAccount: 1e12,
  streamWindowSeconds: 600,
  recordDays: 30,
  queueMax: 10_000,
  queueMaxPerAccount: 0,
  priority: 'interactive',
  jobsMaxPerAccount: 0,
  monthSecondsMaxPerAccount: 0,
  fileBytesMax: 524_288_000,
  mediaSecondsMax: 7200,
}

/** An engine that answers nothing but a cancel. */
const absentEngine = (onCancel: (requestId: string) => unknown): EngineClient => ({
  ...NO_MODELS,
  describe: () => Promise.reject(new Error('not there')),
  stats: () => Promise.reject(new Error('not there')),
  cancel: async (requestId) => onCancel(requestId),
  close() {},
})

export const startGateway = async (t: TestContext, options: GatewayOptions = {}) =>
  withActions(await openGateway(t, options))

/** Returns a gateway that is called with another key, by default of the same account. */
export const withKey = (gateway: Gateway, key: string, accountId = gateway.accountId): Gateway =>
  withActions({ ...gateway, key, accountId, call: callWith(gateway, key) })

/** Returns a gateway that is called by another account. */
export async function byAnother(gateway: Gateway): Promise<Gateway> {
  const accountId = newId('acct')
  return withKey(gateway, await gateway.newKey(undefined, accountId), accountId)
}

/** Adds what clients and engines do to a gateway. */
function withActions(opened: Opened) {
  const bound =
    <Args extends unknown[], Result>(act: (gateway: Opened, ...args: Args) => Result) =>
    (...args: Args): Result =>
      act(opened, ...args)
  return {
    ...opened,
    createFile: bound(createFile),
    uploadFile: bound(uploadFile),
    submit: bound(submit),
    submitted: bound(submitted),
    complete: bound(complete),
    completed: bound(completed),
    failed: bound(failed),
    firstRequest: bound(firstRequest),
    putOutput: bound(putOutput),
    uploadOutputs: bound(uploadOutputs),
    statusOf: bound(statusOf),
    getResult: bound(getResult),
  }
}

async function openGateway(t: TestContext, options: GatewayOptions) {
  const { beside } = options
  const folder = beside?.folder ?? (await mkdtemp(join(tmpdir(), 'gateway-')))
  const database = beside?.database ?? (await createTestDatabase(t, folder, options.database))
  const opened = await openTestDatabase(database)
  const store = options.plugin ? opened.withPlugin(options.plugin) : opened
  const [clock, broker] = [beside?.clock ?? new FakeClock(), beside?.broker ?? new MemoryBroker()]
  const logLines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => logLines.push(line) })
  const canceled: string[] = []
  const engine = options.engine ?? absentEngine((requestId) => canceled.push(requestId))
  const encryptionKeys: Keys = options.encryptionKeys ??
    beside?.deps.config.encryptionKeys ?? [randomBytes(32).toString('base64url')]
  const signingKeys: Keys = options.signingKeys ??
    beside?.signingKeys ?? [randomBytes(32).toString('base64url')]
  const free = { bytes: Infinity }
  const openDisk = () =>
    openLocalDisk({
      folder: join(folder, 'media'),
      signingKeys,
      freeBytesMin: 0,
      isShared: database.url !== undefined,
      freeBytes: async () => {
        if (Number.isNaN(free.bytes)) throw new Error('the disk is gone')
        return free.bytes
      },
      engineFolder: options.engineFolder,
      baseUrls: {
        client: options.config?.publicUrl ?? (() => PUBLIC_URL),
        engine: () => MEDIA_URL,
      },
    })
  const disk = await openDisk()
  const { deps } = createGateway({
    store,
    mediaStore: options.mediaStore ?? disk,
    broker: broker.connect((requestId) => deps.feed.rowChangedElsewhere(requestId)),
    clock,
    log,
    metrics: new Metrics(),
    connectEngine: (address) => (typeof engine === 'function' ? engine(address) : engine),
    post: options.postWebhook ?? (async () => ({ status: 204, retryAfter: undefined })),
    checkAudioUrl: options.checkAudioUrl ?? (async () => {}),
    checkWebhookUrl: options.checkWebhookUrl ?? (async () => {}),
    config: {
      ...CONFIG,
      adminUrl: options.config?.publicUrl ?? CONFIG.publicUrl,
      encryptionKeys,
      rateLimitPerMinute: options.rateLimitPerMinute ?? 0,
      streamsMaxPerAccount: options.streamsMaxPerAccount ?? 1_000,
      webhooksMax: 16,
      webhooksPerHostMax: 8,
      ...options.config,
    },
  })
  const app = await buildApp(deps)
  t.after(async () => {
    const closing = app.close()
    app.server.closeAllConnections() // a browser may hold one open that it has not used
    await closing
    await store.destroy()
    await rm(folder, { recursive: true, force: true })
  })
  const publisher = { ...deps, broker }
  const handleEvent = createEventHandler(deps)
  const accountId = newId('acct')
  const key = await newKey(deps, SCOPES, accountId)
  return {
    app,
    /** Includes the author recorded with changes to accounts and keys. */
    deps: Object.assign(deps, { author: { tool: 'command_line', origin: 'test' } as const }),
    database,
    signingKeys,
    disk,
    free,
    openDisk,
    store,
    clock,
    broker,
    feed: deps.feed,
    engineRegistry: deps.engineRegistry,
    folder,
    canceled,
    key,
    /** The account of the key. */
    accountId,
    /** Makes a key, by default for a new account. */
    newKey: (scopes?: readonly Scope[], account?: string) => newKey(deps, scopes, account),
    /** Returns the log lines of a level, in order. */
    logged: (level: 'error' | 'info'): Record<string, any>[] =>
      logLines
        .map((line) => JSON.parse(line))
        .filter((line) => line.level === pino.levels.values[level]),
    /** Returns all rows of a table. */
    rows: <Table extends keyof Tables>(table: Table) =>
      store.selectFrom<keyof Tables>(table).selectAll().execute() as unknown as Promise<
        Tables[Table][]
      >,
    publish: () => publishWaiting(publisher),
    call: (method: InjectOptions['method'], url: string, options: CallOptions = {}) =>
      call(app, method, url, { key, ...options }),
    event: <Type extends Event['type']>(
      type: Type,
      requestId: string,
      fields: Partial<EventOf<Type>> = {},
    ) => handleEvent(makeEvent(type, requestId, isoTime(clock.now()), fields)),
    /** Opens a port, for requests that can't be injected. */
    async listen(): Promise<string> {
      await app.listen({ host: '127.0.0.1', port: 0 })
      return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    },
  }
}

interface CallOptions {
  /** Null to send no key. */
  key?: string | null
  body?: unknown
  headers?: Record<string, string>
}

/** Calls a path, or an address that the gateway returned. */
function call(
  app: FastifyInstance,
  method: InjectOptions['method'],
  url: string,
  { key, body, headers = {} }: CallOptions,
) {
  const path = url.replace(PUBLIC_URL, '').replace(MEDIA_URL, '')
  const authorization = key && path.startsWith('/v1') ? { authorization: `Bearer ${key}` } : {}
  return app.inject({
    ...(method && { method }),
    url: path,
    headers: { ...authorization, ...headers },
    ...(body !== undefined && { payload: body as object }),
  })
}

async function newKey(
  { store, clock }: GatewayDeps,
  scopes: readonly Scope[] = SCOPES,
  account = newId('acct'),
): Promise<string> {
  const keyId = newKeyId()
  const key = newApiKey(keyId)
  const now = isoTime(clock.now())
  await ensureAccount(store, { account_id: account, name: 'Test', created_at: now })
  await putApiKey(store, {
    key_id: keyId,
    account_id: account,
    name: 'Test',
    key_hash: hashApiKey(key),
    scopes: JSON.stringify(scopes),
    created_at: now,
    expires_at: null,
    revoked_at: null,
  })
  return key
}

/** Returns `gateway.call` with another key. */
const callWith =
  (gateway: Opened, key: string): Opened['call'] =>
  (method, url, options) =>
    gateway.call(method, url, { ...options, key })

type Caller = Pick<Opened, 'call'>

type EventOutputs = NonNullable<Extract<Event, { type: 'completed' }>['outputs']>

const PEAKS = { content_type: 'application/json', extension: 'json', bytes: 5 }
const PREVIEW = { content_type: 'audio/ogg', extension: 'ogg', bytes: 7 }
const FILES: Record<string, typeof PEAKS> = { peaks: PEAKS, preview: PREVIEW }
const OUTPUT = { content_type: 'audio/wav', extension: 'wav', bytes: 4 }

function makeEvent(
  type: Event['type'],
  requestId: string,
  at: string,
  fields: Partial<Event>,
): Event {
  const speaker = { attempt_id: ATTEMPT_ID, engine_id: 'engine-1' }
  const common = { request_id: requestId, ...speaker, at, logs: [] }
  const outputs = { target: OUTPUT, residual: OUTPUT }
  const own = {
    started: {},
    released: { cause: 'drain' },
    measured: { duration: 12.4 },
    completed: { duration: 12.5, sample_rate: 48_000, outputs },
    failed: { error: { code: 'MODEL_FAILED', message: 'The model failed.' } },
  }
  return { type, ...common, ...own[type], ...fields } as Event
}

export const FILE_BYTES = Buffer.from('RIFF....')

/** Request body that creates a file the size of FILE_BYTES. */
export const createFileBody = (fields: object = {}) => ({
  file_name: 'concert.m4a',
  content_type: 'audio/mp4',
  file_size: FILE_BYTES.length,
  purpose: 'audio.separate.input',
  ...fields,
})

/** Creates a file of the size of FILE_BYTES. */
const createFile = ({ call }: Caller, fields: object = {}) =>
  call('POST', '/v1/files', { body: createFileBody(fields) })

/** Creates and uploads a file, and returns its id. */
async function uploadFile(gateway: Caller, fields: object = {}): Promise<string> {
  const created = await createFile(gateway, fields)
  assert.equal(created.statusCode, 201, created.body)
  const { file_id: fileId, upload_url: url } = created.json()
  const uploaded = await gateway.call('PUT', url, { body: FILE_BYTES })
  assert.equal(uploaded.statusCode, 200, uploaded.body)
  return fileId
}

/**
 * Submits `input`, with a newly uploaded file if it names no source.
 * @param more further fields of the body
 */
async function submit(
  gateway: Caller,
  input: object = {},
  more: object = {},
  headers: Record<string, string> = {},
) {
  const isComplete = ['audio_url', 'file_id', 'request_id'].some((name) => name in input)
  const file = isComplete ? {} : { file_id: await uploadFile(gateway) }
  const prompt = 'prompts' in input ? {} : { prompt: 'a bell' }
  const body = { input: { ...prompt, ...file, ...input }, ...more }
  return gateway.call('POST', `${API}/audio/separate`, { body, headers })
}

/** Submits a request, publishes its job, and returns its id. */
async function submitted(gateway: Opened, input: object = {}, more: object = {}): Promise<string> {
  const reply = await submit(gateway, input, more)
  assert.equal(reply.statusCode, 202, reply.body)
  await gateway.publish()
  return reply.json().request_id
}

/** Submits and completes a request, and returns its id. */
async function completed(gateway: Opened, input: object = {}, more: object = {}): Promise<string> {
  const requestId = await submitted(gateway, input, more)
  await complete(gateway, requestId)
  return requestId
}

/** Submits a request that an engine begins and fails, and returns its id. */
async function failed(gateway: Opened, input: object = {}, more: object = {}): Promise<string> {
  const requestId = await submitted(gateway, input, more)
  await gateway.event('started', requestId)
  await gateway.event('failed', requestId)
  return requestId
}

/** Returns the status of a request. */
const statusOf = async ({ call }: Caller, requestId: string) =>
  (await call('GET', `${API}/requests/${requestId}/status`)).json()

/** Asks for the result of a request. */
const getResult = ({ call }: Caller, requestId: string) =>
  call('GET', `${API}/requests/${requestId}/result`)

/** Waits for the first request, publishes its job, and returns its id. */
export async function firstRequest({ store, publish }: Opened): Promise<string> {
  for (;;) {
    const row = await store.selectFrom('requests').select('request_id').executeTakeFirst()
    await publish()
    if (row) return row.request_id
    await sleep(5)
  }
}

/**
 * Returns the outputs that an engine would report for a source without video.
 * @param place the attempt that has stored them; absent as in a bucket
 */
export function outputsOf(job: Job, place?: string): EventOutputs {
  const files = Object.keys(job.upload_urls)
    .filter((part) => !part.endsWith('_video'))
    .map((name) => [name, { ...(FILES[name] ?? OUTPUT), ...(place && { place }) }] as const)
  return Object.fromEntries<unknown>([...files, ['gain_db', 0]]) as EventOutputs
}

/** The attempt id of events that set none. */
export const ATTEMPT_ID = 'attempt-1'

/**
 * Completes a request as an engine would: uploads the outputs, then reports them.
 * @param fields of the event
 */
async function complete(
  gateway: Opened,
  requestId: string,
  fields: Partial<EventOf<'completed'>> = {},
): Promise<Job> {
  const job = gateway.broker.jobOf(requestId)
  await gateway.event('started', requestId)
  await uploadOutputs(gateway, job)
  const outputs = outputsOf(job, ATTEMPT_ID)
  await gateway.event('completed', requestId, { outputs, ...fields })
  return job
}

/** Sends an output to its signed address as an engine would. */
const putOutput = (
  { call }: Caller,
  url: string,
  content: string | Buffer,
  attemptId: string = ATTEMPT_ID,
) => call('PUT', url, { body: Buffer.from(content), headers: { [ATTEMPT_HEADER]: attemptId } })

/** Uploads outputs as an engine would; each is the name of its part, or `content`. */
async function uploadOutputs(
  gateway: Opened,
  job: Job,
  { attemptId = ATTEMPT_ID, content }: { attemptId?: string; content?: string | Buffer } = {},
): Promise<void> {
  for (const [part, url] of Object.entries(job.upload_urls)) {
    const reply = await putOutput(gateway, url, content ?? part, attemptId)
    assert.equal(reply.statusCode, 200, reply.body)
    assert.equal(reply.headers[PLACE_HEADER], attemptId)
  }
}
