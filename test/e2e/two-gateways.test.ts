/** Two gateways, each a process of its own, with one PostgreSQL, one broker and two engines. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createClient } from '../../clients/typescript/node.ts'
import { examplePath, readWav16, siSdr, SUM_ERROR_MAX, sumError } from '../harness/examples.ts'
import { followLoad } from '../support/follow-load.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { noise } from '../harness/signals.ts'
import { createDatabase } from '../harness/start-postgres.ts'
import {
  API_KEY,
  downloadResult,
  separateFile,
  startWinnow,
  type Program,
} from '../harness/start-winnow.ts'
import type { LoadReport } from '../support/steady-load.ts'
import { readWav24, wavBytes } from '../harness/wav.ts'

const LOAD = fileURLToPath(new URL('../support/steady-load.ts', import.meta.url))
const EXAMPLE = 'siren-and-speech'
/** Requests between two events: each gateway has taken some. */
const SUBMITTED_BETWEEN = 15

/** Both gateways behind a load balancer. */
async function startFleet(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'two-gateways-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const keys = { SIGNING_KEY_FILE: 'signing-key', ENCRYPTION_KEY_FILE: 'encryption-key' }
  for (const name of Object.values(keys)) {
    await writeFile(join(folder, name), randomBytes(32).toString('base64url'), { mode: 0o600 })
  }
  const balancer = await startTcpProxy(t)
  const winnow = await startWinnow(t, {
    engines: 2,
    env: {
      DATABASE_URL: await createDatabase(t),
      SIGNING_KEY_FILE: join(folder, 'signing-key'),
      ENCRYPTION_KEY_FILE: join(folder, 'encryption-key'),
      PUBLIC_URL: balancer.url,
      MEDIA_URL: balancer.url,
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      JOBS_MAX: '4',
    },
  })
  const first = winnow.gateway
  const second = await winnow.startGateway({ PORT: '0' })
  const [one, other] = [first, second].map(portOf)
  balancer.ports.push(one!, other!)
  return { winnow, balancer, folder, first, second }
}

const portOf = ({ ready }: Program): number => Number(new URL(ready.address ?? '').port)

type Fleet = Awaited<ReturnType<typeof startFleet>>

/** Submits to the load balancer, 8 requests a second. */
async function startLoad(t: TestContext, { balancer, folder }: Fleet) {
  const path = join(folder, 'short.wav')
  await writeFile(path, wavBytes([noise(0.2, 8_000)], 8_000))
  const child = spawn(process.execPath, ['--import', 'tsx', LOAD, balancer.url, API_KEY, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  return followLoad(child)
}

/** A request through the load balancer, its status followed and its result fetched there. */
async function assertSeparated({ winnow, balancer }: Fleet): Promise<void> {
  const client = createClient({ baseUrl: balancer.url, apiKey: API_KEY })
  const through = { ...winnow, client }
  const { submitted, last } = await separateFile(through, examplePath(`${EXAMPLE}.wav`), {
    prompt: 'siren',
  })
  assert.equal(last.status, 'COMPLETED')
  const files = await downloadResult(through, submitted)
  const [target, residual] = [readWav24(files.target).planes, readWav24(files.residual).planes]
  const mixture = await readWav16(examplePath(`${EXAMPLE}.wav`))
  assert.ok(sumError(target, residual, mixture) <= SUM_ERROR_MAX, 'the parts add up')
  const siren = await readWav16(examplePath(`sources/${EXAMPLE}/siren.wav`))
  assert.ok(siSdr(target, siren) > siSdr(mixture, siren) + 6, 'the target is the siren')
}

function assertNoneLost(t: TestContext, report: LoadReport): void {
  t.diagnostic(JSON.stringify(report))
  assert.deepEqual(report.failures, [])
  assert.equal(report.completed, report.submitted)
  assert.equal(report.webhooks, report.submitted)
}

test('gateways, then engines are upgraded in turn, the older beside a newer schema: no call fails', async (t) => {
  const fleet = await startFleet(t)
  const { winnow, first, second } = fleet
  const load = await startLoad(t, fleet)
  await load.submitMore(SUBMITTED_BETWEEN)
  for (const older of [second, first]) {
    assert.equal(await older.end('SIGTERM'), 0)
    await load.submitMore(SUBMITTED_BETWEEN) // the other one alone
    await winnow.startGateway({ PORT: String(portOf(older)) }, 'test/support/next-release.ts')
    await load.submitMore(SUBMITTED_BETWEEN) // after the first turn: an older and a newer gateway, the newer schema
  }
  const heard = assertSeparated(fleet) // under load, while engines come and go
  for (const older of [...winnow.engines]) {
    assert.equal(await older.end('SIGTERM'), 0) // it finishes what it has, or gives it back
    await load.submitMore(SUBMITTED_BETWEEN)
    await winnow.startEngine()
  }
  await heard
  assertNoneLost(t, await load.finish())
})

test('a gateway of two is killed, and comes back, while requests flow: all of them complete', async (t) => {
  const fleet = await startFleet(t)
  const { winnow, first, second } = fleet
  const load = await startLoad(t, fleet)
  await load.submitMore(SUBMITTED_BETWEEN)
  for (const victim of [second, first]) {
    await victim.end('SIGKILL')
    await load.submitMore(SUBMITTED_BETWEEN)
    await winnow.startGateway({ PORT: String(portOf(victim)) })
    await load.submitMore(SUBMITTED_BETWEEN)
  }
  assertNoneLost(t, await load.finish())
})
