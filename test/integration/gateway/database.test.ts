/** A database that is unusable, unavailable, or moved: the error is clear, and nothing is lost. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { SettingsError } from '../../../shared/process/settings.ts'
import { loadDatabaseConfig } from '../../../gateway/config.ts'
import type { Store } from '../../../gateway/store/database.ts'
import { openPostgres } from '../../../gateway/store/driver/postgres.ts'
import { StartError } from '../../../shared/process/lifecycle.ts'
import { database } from '../../../scripts/cli/admin/database.ts'
import { assertError } from '../../support/gateway/assert-shape.ts'
import { assertSound, meteredAccount } from '../../support/gateway/metered.ts'
import { API, startGateway, withKey } from '../../support/gateway/start-gateway.ts'
import { webhookSender } from '../../support/gateway/webhook-sender.ts'
import { runCommand } from '../../support/processes/run-command.ts'
import {
  createDatabase,
  sharedPostgres,
  startPostgres,
} from '../../support/database/start-postgres.ts'

const SUBMIT = `${API}/audio/separate`
const INPUT = { prompt: 'a bell', audio_url: 'https://media.example/x.wav' }

const QUIET = { connectionsMax: 1, log: { warn() {} } }

/** Returns the message with which opening the database fails. */
async function refusal(url: string, waitMsMax = 60_000): Promise<string> {
  const error = await openPostgres({ url, ...QUIET, waitMsMax }).then(
    () => assert.fail('it was opened'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof StartError, String(error))
  return error.message
}

test('an invalid address is refused, and not shown', () => {
  for (const url of [
    'postgres//u:secret@host/db',
    'mysql://u:secret@h/db',
    'postgres://u:secret@h',
  ]) {
    assert.throws(
      () => loadDatabaseConfig({ DATABASE_URL: url }),
      (error: SettingsError) => {
        assert.match(error.message, /DATABASE_URL must have the form postgres:/)
        return !error.message.includes('secret')
      },
    )
  }
})

const tlsFile = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url))

test('TLS follows the address: absent, required, or verified with a certificate', async (t) => {
  const server = await startPostgres({
    settings: ['ssl=on', 'ssl_cert_file=server.crt', 'ssl_key_file=server.key'],
    files: {
      'server.crt': await readFile(tlsFile('certificate'), 'utf8'),
      'server.key': await readFile(tlsFile('key'), 'utf8'),
      'pg_hba.conf':
        'hostssl all winnow 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
    },
  })
  t.after(() => server.stop('SIGQUIT'))
  const url = server.urlOf('postgres')
  const rootCert = `sslrootcert=${tlsFile('certificate')}`
  for (const query of ['sslmode=require', `sslmode=verify-ca&${rootCert}`]) {
    await (await openPostgres({ url: `${url}?${query}`, ...QUIET })).destroy()
  }
  const plain = (await sharedPostgres()).urlOf('postgres')
  for (const [address, reason] of [
    [url, /refuses this user .*no encryption/],
    [`${url}?sslmode=verify-full`, /no connection .* can be made \(self-signed certificate/],
    // The certificate is for another name.
    [`${url}?sslmode=verify-full&${rootCert}`, /no connection .* can be made \(.*127\.0\.0\.1/],
    [`${plain}?sslmode=require`, /does not support SSL/],
  ] as const) {
    assert.match(await refusal(address), reason)
  }
  const message = await refusal(`${url.replace('winnow@', 'guest:secret@')}?sslmode=require`)
  assert.match(
    message,
    /^DATABASE_URL: the database at 127\.0\.0\.1:\d+\/postgres refuses this user/,
  )
  assert.ok(!message.includes('secret'))
})

test('a database that does not exist, or has another encoding, is named', async () => {
  const server = await sharedPostgres()
  assert.match(await refusal(server.urlOf('nowhere')), /"nowhere" does not exist at .*Create it/)
  const store = await openPostgres({ url: server.urlOf('postgres'), ...QUIET })
  await sql`create database ascii encoding 'SQL_ASCII' template template0 locale 'C'`.execute(store)
  await store.destroy()
  assert.match(await refusal(server.urlOf('ascii')), /keeps text as SQL_ASCII/)
})

test('the gateway waits for a database that starts later, and logs that once', async () => {
  const server = await sharedPostgres()
  const url = server.urlOf('postgres')
  await server.stop('SIGQUIT')
  const lines: string[] = []
  let opening: Promise<Store>
  try {
    assert.match(
      await refusal(url, 0),
      /no database answers at 127\.0\.0\.1:\d+\/postgres .*Start PostgreSQL/,
    )
    await new Promise<void>((waiting) => {
      const warn = (_details: object, message: string) => {
        lines.push(message)
        waiting()
      }
      opening = openPostgres({ url, connectionsMax: 1, log: { warn } })
    })
  } finally {
    await server.start()
  }
  await (await opening!).destroy()
  assert.deepEqual(lines, ['the database does not answer yet: waiting for it'])
})

test('while the database is down submits answer 503, and work resumes when it is back', async (t) => {
  const server = await sharedPostgres()
  const gateway = await startGateway(t, { database: 'postgres' })
  const requestId = await gateway.submitted(INPUT)
  await server.stop('SIGQUIT') // like a crash
  try {
    const refused = await gateway.call('POST', SUBMIT, { body: { input: INPUT } })
    assertError(refused, 'SERVICE_UNAVAILABLE')
    assert.equal(refused.headers['retry-after'], '5')
    const ready = await gateway.call('GET', '/readyz')
    assert.deepEqual([ready.statusCode, ready.json().database], [503, false])
    await assert.rejects(gateway.event('started', requestId)) // so the broker redelivers it
  } finally {
    await server.start()
  }
  gateway.clock.advance(2_000)
  assert.equal((await gateway.call('GET', '/readyz')).json().database, true)
  await gateway.event('started', requestId)
  const status = await gateway.call('GET', `${API}/requests/${requestId}/status`)
  assert.equal(status.json().status, 'IN_PROGRESS')
  assert.equal((await gateway.call('POST', SUBMIT, { body: { input: INPUT } })).statusCode, 202)
})

/**
 * Runs `npm run winnow -- database` as a process, because it holds its lock on the data folder
 * until it exits.
 */
function tool(...words: string[]) {
  const command = ['scripts/run.mjs', 'scripts/cli/main.ts', 'database', ...words]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  return { code: status, said: stderr + stdout }
}

test('an installation moves to PostgreSQL with requests, credits and webhooks in progress', async (t) => {
  const old = await startGateway(t, { database: 'sqlite' })
  const { accountId } = await meteredAccount(old, 100)
  const key = await old.newKey(undefined, accountId)
  const own = withKey(old, key, accountId)
  const webhook = { webhookUrl: 'https://hooks.example/', webhookSecret: 'a secret of sixteen' }
  const body = { url: 'https://all.example/' }
  const endpoint = (await own.call('POST', '/v1/webhook-endpoints', { body })).json()
  const submission = {
    body: { input: { prompt: 'a bell', file_id: await own.uploadFile() }, ...webhook },
    headers: { 'idempotency-key': 'once' },
  }
  const first = await own.call('POST', SUBMIT, submission)
  const running = first.json().request_id
  await own.publish()
  await own.event('started', running)
  await own.event('measured', running)
  const ended = (await own.call('POST', SUBMIT, { body: { input: INPUT, ...webhook } })).json()
    .request_id
  await own.event('started', ended)
  await own.event('failed', ended)
  const waiting = (await own.call('POST', SUBMIT, { body: { input: INPUT } })).json().request_id

  const url = await createDatabase(t)
  const from = `sqlite:${join(old.folder, 'winnow.db')}`
  const moved = tool('copy', '--from', from, '--to', url)
  assert.equal(moved.code, 0, moved.said)
  assert.match(moved.said, /^requests +3$/m)
  const again = tool('copy', '--from', from, '--to', url)
  assert.equal(again.code, 1)
  assert.match(again.said, /holds accounts already/)
  const nowhere = ['copy', '--from', 'sqlite:/nowhere/winnow.db', '--to', url]
  assert.equal((await runCommand(database, nowhere)).code, 2)

  const next = await startGateway(t, { beside: { ...old, database: { folder: old.folder, url } } })
  const { call } = withKey(next, key, accountId)
  assert.equal((await call('POST', SUBMIT, submission)).body, first.body)
  const { signing_secret: _, ...kept } = endpoint
  assert.deepEqual((await call('GET', '/v1/webhook-endpoints')).json().data, [kept])
  const deliveries = `/v1/webhook-endpoints/${kept.endpoint_id}/deliveries`
  assert.equal((await call('GET', deliveries)).json().data[0].request_id, ended)
  await next.publish()
  assert.ok(next.broker.jobOf(waiting))
  await next.event('completed', running)
  const status = (await call('GET', `${API}/requests/${running}/status`)).json()
  assert.equal(status.status, 'COMPLETED')
  const ledger = await assertSound(next.store, accountId)
  assert.deepEqual(ledger.map((entry) => entry.kind).sort(), [
    'credit',
    'deduct',
    'release', // the failed request's
    'release', // the reservation that ends once the length is known
    'reserve', // by each of three requests whose length is not yet known
    'reserve',
    'reserve',
  ])
  const webhookIds: string[] = []
  const sender = webhookSender(next, {
    post: async (_url, { body }) => {
      webhookIds.push(JSON.parse(String(body)).request_id)
      return { status: 200, retryAfter: undefined }
    },
  })
  await sender.send()
  assert.deepEqual(webhookIds.sort(), [running, running, ended, ended].sort(), 'to both receivers')
})

test('a connection lost between two statements only fails its transaction', async (t) => {
  const url = await createDatabase(t)
  const store = await openPostgres({ url, ...QUIET, connectionsMax: 2 })
  t.after(() => store.destroy())
  const broken = store.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction)
    await sql`select pg_terminate_backend(${rows[0]!.pid}, 5000)`.execute(store)
    await new Promise((resolve) => setTimeout(resolve, 50)) // until the end of the connection is noticed
    await sql`select 1`.execute(transaction)
  })
  await assert.rejects(broken)
  assert.equal((await sql`select 1`.execute(store)).rows.length, 1)
})
