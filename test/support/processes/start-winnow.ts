/**
 * Starts the real processes (nats-server, gateway and engines) for a test, and fails the test if
 * any of them logs a secret.
 */

import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  createClient,
  type Client,
  type Status,
  type Submission,
} from '../../../clients/typescript/node.ts'
import { startNatsServer, type NatsServer } from '../../../scripts/cli/start/nats-server.ts'
import { freePorts } from './free-ports.ts'
import { linesWithSecrets } from './secrets-in-logs.ts'
import {
  launchProgram,
  type Environment,
  type StartingProgram,
  type Program,
} from './start-program.ts'

export type { Program }

export const API_KEY = 'a-key-for-tests-only'

export interface Winnow {
  folder: string
  url: string
  nats: NatsServer
  gateway: Program
  engines: Program[]
  client: Client
  /** @param program main file, relative to the root of `checkout`, which defaults to this one */
  startEngine(env?: Environment, program?: string, checkout?: string): Promise<Program>
  /** Like `startEngine`. */
  startGateway(env?: Environment, program?: string, checkout?: string): Promise<Program>
  startNats(): Promise<void>
}

interface WinnowOptions {
  engines?: number
  /** Settings of gateways and engines. */
  env?: Environment
  /** Settings of engines only. */
  engineEnv?: Environment
  /** Folder of the broker's store; by default in the service's folder. */
  natsFolder?: string
}

/**
 * Starts the whole service with `engines` engines. Everything ends with the test, even if that
 * happens while the service is starting, for example because another part of the set-up fails.
 */
export async function startWinnow(
  t: Pick<TestContext, 'after'>,
  { engines = 1, env = {}, engineEnv = {}, natsFolder }: WinnowOptions = {},
): Promise<Winnow> {
  // Synchronous, because nothing may be awaited before `after`.
  const folder = mkdtempSync(join(tmpdir(), 'winnow-test-'))
  const ofNats = natsFolder ?? join(folder, 'nats')
  const portsTaken = freePorts(2) // gateway and broker keep their ports when they restart
  const natsStarting = portsTaken.then(([, port]) => startNatsServer({ folder: ofNats, port }))
  const programs: StartingProgram[] = []
  const winnow = { folder, engines: [] as Program[] } as Winnow
  t.after(async () => {
    // Once NATS has started, `programs` contains everything that starts along with it.
    const nats = await natsStarting.catch(() => undefined)
    await Promise.all(programs.map((program) => program.end('SIGKILL')))
    ;(winnow.nats ?? nats)?.process.kill('SIGKILL')
    const leaks = programs.flatMap(({ log, environment }) =>
      linesWithSecrets(log(), folder, environment),
    )
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    assert.deepEqual(leaks, [], 'secrets in logs')
  })
  const [gatewayPort] = await portsTaken
  const nats = await natsStarting
  winnow.nats = nats
  const base = {
    NATS_URL: nats.url,
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: String(gatewayPort),
    GRPC_PORT: '0',
    METRICS_PORT: '0',
    BOOTSTRAP_API_KEY: API_KEY,
    SCRATCH_DIR: join(folder, 'scratch'),
    LEASE_SECONDS: '2',
    DRAIN_SECONDS: '10',
    ...env,
  }
  const start = async (more: Environment, program: string, checkout?: string): Promise<Program> => {
    const launched = launchProgram(program, { ...base, ...more }, checkout)
    programs.push(launched)
    return { ...launched, ready: await launched.ready }
  }
  winnow.startEngine = async (more = {}, program = 'engine/main.ts', checkout) => {
    const engine = await start({ ...engineEnv, ...more }, program, checkout)
    winnow.engines.push(engine)
    return engine
  }
  winnow.startGateway = async (more = {}, program = 'gateway/main.ts', checkout) => {
    winnow.gateway = await start(more, program, checkout)
    winnow.url = winnow.gateway.ready.address ?? ''
    return winnow.gateway
  }
  winnow.startNats = async () => {
    const { port, username: token } = new URL(nats.url)
    winnow.nats = await startNatsServer({ folder: ofNats, port: Number(port), token })
  }
  await Promise.all([
    winnow.startGateway(),
    ...Array.from({ length: engines }, () => winnow.startEngine()),
  ])
  winnow.client = createClient({ baseUrl: winnow.url, apiKey: API_KEY })
  return winnow
}

/**
 * Returns options that keep an engine busy, for tests that end something in the middle of a job.
 * More tries per section lengthen the job, but not the media.
 */
export const keepingBusy = (tries: number) =>
  ({ prompt: 'noise', acceleration: 'quality', reranking_candidates: tries }) as const

/** Uploads and submits a file; returns the response to the submit. */
export async function submitFile(
  { client }: Pick<Winnow, 'client'>,
  path: string,
  input: Omit<Submission['input'], 'file_id' | 'audio_url'>,
  contentType = 'audio/wav',
) {
  const fileId = await client.upload(path, contentType)
  return client.submit({ input: { ...input, file_id: fileId } })
}

/** Follows a request to its end and returns every status; the last is terminal. */
export async function followToEnd(
  { client }: Pick<Winnow, 'client'>,
  submitted: Parameters<Client['follow']>[0],
): Promise<Status[]> {
  const statuses: Status[] = []
  for await (const status of client.follow(submitted, { logs: true })) statuses.push(status)
  return statuses
}

/** Separates a file and returns the terminal status. */
export async function separateFile(
  winnow: Pick<Winnow, 'client'>,
  path: string,
  input: Omit<Submission['input'], 'file_id' | 'audio_url'>,
  contentType?: string,
) {
  const submitted = await submitFile(winnow, path, input, contentType)
  const last = (await followToEnd(winnow, submitted)).at(-1)
  if (!last) throw new Error('the stream ended without a status')
  return { submitted, last }
}

/** Downloads both results of a completed request. */
export async function downloadResult(
  { client }: Pick<Winnow, 'client'>,
  submitted: Parameters<Client['result']>[0],
): Promise<{ target: Buffer; residual: Buffer; result: Awaited<ReturnType<Client['result']>> }> {
  const result = await client.result(submitted)
  const get = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
  const [target, residual] = await Promise.all(
    [result.data.target.url, result.data.residual.url].map(get),
  )
  return { target: target!, residual: residual!, result }
}
