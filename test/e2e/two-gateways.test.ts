/** Two gateways, each its own process, with one PostgreSQL, one broker and two engines. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { createClient } from '../../clients/typescript/node.ts'
import { open } from '../../scripts/cli/open/command.ts'
import { top } from '../../scripts/cli/top/command.ts'
import { separationClient } from '../support/clients/separation-client.ts'
import { readOwnAddress } from '../../shared/own-address.ts'
import type { Tls } from '../../shared/process/tls-files.ts'
import { assertSiren, examplePath } from '../support/media/examples.ts'
import { startLoad } from '../support/processes/follow-load.ts'
import { makeTls, tlsFilesOf } from '../support/http/make-tls.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { startTcpProxy } from '../support/http/tcp-proxy.ts'
import { createDatabase } from '../support/database/start-postgres.ts'
import {
  API_KEY,
  downloadResult,
  separateFile,
  startWinnow,
  type Program,
  type Winnow,
} from '../support/processes/start-winnow.ts'
import type { LoadReport } from '../support/processes/steady-load.ts'

const ADMIN_TOKEN = 'the-admin-token-of-this-test'
const EXAMPLE = 'siren-and-speech'
/** Requests between two events, enough for each gateway to take some. */
const SUBMITTED_BETWEEN = 8

/** Returns a folder, and settings for gateways that share a new database. */
async function settingsOfSeveral(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'two-gateways-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const keys = { SIGNING_KEY_FILE: 'signing-key', ENCRYPTION_KEY_FILE: 'encryption-key' }
  for (const name of Object.values(keys)) {
    await writeFile(join(folder, name), randomBytes(32).toString('base64url'), { mode: 0o600 })
  }
  const env = {
    DATABASE_URL: await createDatabase(t),
    SIGNING_KEY_FILE: join(folder, 'signing-key'),
    ENCRYPTION_KEY_FILE: join(folder, 'encryption-key'),
    EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    JOBS_MAX: '4',
  }
  return { folder, env }
}

/** Starts both gateways behind a load balancer. */
async function startFleet(t: TestContext) {
  const { folder, env } = await settingsOfSeveral(t)
  const balancer = await startTcpProxy(t)
  const addresses = { PUBLIC_URL: balancer.url, MEDIA_URL: balancer.url }
  const winnow = await startWinnow(t, { engines: 2, env: { ...env, ...addresses } })
  const first = winnow.gateway
  const second = await winnow.startGateway({ PORT: '0' })
  const [one, other] = [first, second].map(portOf)
  balancer.ports.push(one!, other!)
  return { winnow, balancer, folder, first, second }
}

const portOf = ({ ready }: Program): number => Number(new URL(ready.address ?? '').port)

type Fleet = Awaited<ReturnType<typeof startFleet>>

/** Separates through the load balancer: submits, follows the status and fetches the result. */
async function assertSeparated({ winnow, balancer }: Fleet): Promise<void> {
  const client = createClient({ baseUrl: balancer.url, apiKey: API_KEY })
  const through = { ...winnow, client }
  const { submitted, last } = await separateFile(through, examplePath(`${EXAMPLE}.wav`), {
    prompt: 'siren',
  })
  assert.equal(last.status, 'COMPLETED')
  await assertSiren(await downloadResult(through, submitted))
}

function assertNoneLost(t: TestContext, report: LoadReport): void {
  t.diagnostic(JSON.stringify(report))
  assert.deepEqual(report.failures, [])
  assert.equal(report.completed, report.submitted)
  assert.equal(report.webhooks, report.submitted)
}

test('no request is lost while a gateway is killed and restarted, and all are upgraded in turn', async (t) => {
  const fleet = await startFleet(t)
  const { winnow, first, second: victim } = fleet
  const load = await startLoad(t, fleet.balancer.url, fleet.folder)
  await load.submitMore(SUBMITTED_BETWEEN)
  await victim.end('SIGKILL')
  await load.submitMore(SUBMITTED_BETWEEN)
  const second = await winnow.startGateway({ PORT: String(portOf(victim)) })
  await load.submitMore(SUBMITTED_BETWEEN)
  const upgraded: Program[] = []
  for (const older of [second, first]) {
    assert.equal(await older.end('SIGTERM'), 0)
    await load.submitMore(SUBMITTED_BETWEEN) // only the other gateway runs
    const newer = 'test/support/database/next-release.ts'
    upgraded.push(await winnow.startGateway({ PORT: String(portOf(older)) }, newer))
    await load.submitMore(SUBMITTED_BETWEEN) // at first an older gateway shares the newer schema
  }
  const separation = assertSeparated(fleet) // under load, while engines restart
  for (const older of [...winnow.engines]) {
    assert.equal(await older.end('SIGTERM'), 0) // it finishes its jobs, or releases them
    await load.submitMore(SUBMITTED_BETWEEN)
    await winnow.startEngine()
  }
  await separation
  assertNoneLost(t, await load.finish())
  await assertSameWork(fleet, upgraded)
})

/** Reads what the metrics of every gateway say about the waiting work. */
const workOf = (gateways: readonly Program[]) =>
  Promise.all(
    gateways.map(async ({ ready }) => {
      const text = await (await fetch(`${ready.metrics}/metrics`)).text()
      return text.split('\n').filter((line) => /^winnow_work_seconds.*IN_QUEUE/.test(line))
    }),
  )

/** Asserts that without engines each gateway reports the same work, whichever took the requests. */
async function assertSameWork(
  { winnow, balancer }: Fleet,
  gateways: readonly Program[],
): Promise<void> {
  await Promise.all(winnow.engines.slice(-2).map((engine) => engine.end('SIGTERM')))
  const client = createClient({ baseUrl: balancer.url, apiKey: API_KEY })
  const fileId = await client.upload(examplePath(`${EXAMPLE}.wav`), 'audio/wav')
  for (const separator of ['auto', 'mini']) {
    await client.submit({ input: { prompt: 'siren', file_id: fileId, separator } })
  }
  for (;;) {
    const [one, other] = await workOf(gateways)
    if (one!.length >= 2 && isDeepStrictEqual(one, other)) {
      const seconds = /^winnow_work_seconds\{model="auto",[^}]*\} \d[\d.e-]*\n.*mini/
      return assert.match(one!.join('\n'), seconds)
    }
    await sleep(50)
  }
}

/** Returns the processes whose calls are in a log, over HTTP or gRPC. */
const answeringProcesses = (
  log: string,
  isCall: (call: { method: string }) => boolean,
): number[] => {
  const lines = log.split('\n').filter((line) => line.includes('"answered a call"'))
  const calls = lines.map((line) => JSON.parse(line) as { pid: number; method: string })
  return [...new Set(calls.filter(isCall).map(({ pid }) => pid))]
}

async function processesOf({ log }: Program): Promise<number[]> {
  for (;;) {
    const ready = log()
      .split('\n')
      .find((line) => line.endsWith('"is ready"}') && line.includes('"processes"'))
    if (ready) return (JSON.parse(ready) as { processes: number[] }).processes
    await sleep(20)
  }
}

const tlsSettings = ({ certificateFile, keyFile, caFile }: ReturnType<typeof tlsFilesOf>) => ({
  INTERNAL_TLS_CERT: certificateFile,
  INTERNAL_TLS_KEY: keyFile,
  INTERNAL_TLS_CA: caFile,
})

test('GATEWAYS=2 shares the ports, and a process killed under load is replaced', async (t) => {
  const { folder, env: several } = await settingsOfSeveral(t)
  const [ours, theirs] = [await makeTls(folder, 'ours'), await makeTls(folder, 'theirs')]
  const admins = { ...tlsSettings(tlsFilesOf(folder, 'ours')), ADMIN_TOKEN, ADMIN_PORT: '0' }
  const winnow = await startWinnow(t, { env: { ...several, ...admins, GATEWAYS: '2' } })
  const { gateway } = winnow
  const processes = await processesOf(gateway)
  assert.equal(processes.length, 2)
  assert.equal(readOwnAddress(winnow.folder), winnow.url)
  await t.test('admins are at an address of their own, for who has a certificate', () =>
    assertAdminsApart(winnow, { folder, ours, theirs }),
  )
  const load = await startLoad(t, winnow.url, folder)
  await load.submitMore(SUBMITTED_BETWEEN)
  const isHttp = ({ method }: { method: string }) => !method.startsWith('/')
  assert.deepEqual(answeringProcesses(gateway.log(), isHttp).sort(), [...processes].sort())
  process.kill(processes[0]!, 'SIGKILL')
  await load.submitMore(SUBMITTED_BETWEEN)
  while (answeringProcesses(gateway.log(), isHttp).length < 3) await load.submitMore(1) // its replacement answers
  process.kill(processes[1]!, 'SIGTERM') // it finishes its calls, and is replaced too
  await load.submitMore(SUBMITTED_BETWEEN)
  assertNoneLost(t, await load.finish())
  const client = separationClient(gateway.ready.grpc!, API_KEY, ours)
  t.after(() => client.close())
  const { separations } = await client.call('List', {})
  assert.ok(separations.length > 0, 'gRPC answers at the same port')
  assert.equal(await gateway.end('SIGTERM'), 0)
  assert.equal(readOwnAddress(winnow.folder), undefined)
  await assert.rejects(
    winnow.startGateway({ DATABASE_URL: '' }),
    /GATEWAYS: 2 processes need a PostgreSQL, since one alone works on a SQLite file/,
  )
})

/** Admins are at an address of their own, for who has a certificate. */
async function assertAdminsApart(
  winnow: Winnow,
  { folder, ours, theirs }: { folder: string; ours: Tls; theirs: Tls },
): Promise<void> {
  const adminUrl = winnow.gateway.ready.admin!
  assert.match(adminUrl, /^https:/)

  const ask = (path: string, tls: object) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
      const outgoing = request(
        `${adminUrl}${path}`,
        { ...tls, headers, agent: false },
        (reply) =>
          void text(reply).then((body) => resolve({ status: reply.statusCode!, body }), reject),
      )
      outgoing.on('error', reject).end()
    })
  for (const path of ['/admin/accounts', '/admin/sign-in', '/healthz', '/readyz', '/']) {
    assert.equal((await ask(path, ours)).status, 200, path)
  }
  assert.match((await ask('/', ours)).body, /<html data-audience="admins"/)
  assert.equal((await ask('/v1/models', ours)).status, 404, 'what is for clients')
  const described = JSON.parse((await ask('/v1/openapi.json', ours)).body)
  assert.deepEqual(described.servers, [{ url: adminUrl }])
  assert.match(Object.keys(described.paths).join(), /^\/v1\/openapi.json(,\/admin[^,]+)+$/)
  for (const tls of [{ ca: ours.ca }, { ...theirs, ca: ours.ca }]) {
    await assert.rejects(ask('/healthz', tls), /ECONNRESET|alert|socket hang up/)
  }

  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  for (const path of ['accounts', 'session', 'sign-in', 'no-such-path']) {
    const reply = await fetch(`${winnow.url}/admin/${path}`, { headers })
    assert.equal(reply.status, 404, path)
  }
  assert.match(await (await fetch(winnow.url)).text(), /<html data-audience="clients"/)

  const here = { DATA_DIR: winnow.folder, ADMIN_TOKEN }
  const run = (env: object) => runCommand(top, ['--once'], { env: { ...here, ...env } })
  const files = tlsSettings(tlsFilesOf(folder, 'ours'))
  const shown = await run(files)
  assert.deepEqual([shown.errors, shown.code], ['', 0])
  const page = await runCommand(open, ['--admin'], { env: { ...here, ...files } })
  assert.match(page.text, RegExp(`^${adminUrl}/#admin=adm_code_`))
  const refused = await run(tlsSettings(tlsFilesOf(folder, 'theirs')))
  assert.match(refused.errors, /INTERNAL_TLS_CERT, INTERNAL_TLS_KEY and INTERNAL_TLS_CA must be /)
  const astray = await run({ ADMIN_URL: winnow.url })
  assert.match(
    astray.errors,
    /^There is no admin API at http:\/\/127[^ ]+: set ADMIN_TOKEN of the /,
  )
}
