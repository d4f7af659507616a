/** `npm run keys` and `npm run accounts`, on a data folder and next to a gateway. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { closeAccounts } from '../../gateway/requests/follow/account-closer.ts'
import { accounts } from '../../scripts/cli/operator/accounts.ts'
import { keys } from '../../scripts/cli/operator/keys.ts'
import { complete, startGateway, submitted } from '../support/gateway/start-gateway.ts'
import { createDatabase } from '../support/database/start-postgres.ts'
import { databaseKind, type DatabasePlace } from '../support/database/test-database.ts'
import { runCommand } from '../support/processes/run-command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const TOOLS = { keys, accounts }

interface Answer {
  code: number
  stdout: string
  stderr: string
}

/** As a process of its own. */
const spawn = (place: DatabasePlace, tool: 'keys' | 'accounts', ...words: string[]) =>
  new Promise<Answer>((resolve) => {
    const args = ['scripts/run.mjs', 'scripts/cli/main.ts', tool, ...words]
    execFile(
      process.execPath,
      args,
      { cwd: ROOT, env: { ...process.env, ...envOf(place) } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })

/** In this process. */
async function run(
  place: DatabasePlace,
  tool: keyof typeof TOOLS,
  ...words: string[]
): Promise<Answer> {
  const { code, text, errors } = await runCommand(TOOLS[tool], words, { env: envOf(place) })
  return { code, stdout: text, stderr: errors }
}

async function runJson(...call: Parameters<typeof run>) {
  const { code, stdout, stderr } = await run(...call, '--json')
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

const envOf = ({ folder, url }: DatabasePlace) => ({
  DATA_DIR: folder,
  ...(url !== undefined && { DATABASE_URL: url }),
})

/** The place of a database that no gateway has opened. */
async function newPlace(t: TestContext): Promise<DatabasePlace> {
  const parent = await mkdtemp(join(tmpdir(), 'operator-'))
  t.after(() => rm(parent, { recursive: true }))
  const folder = join(parent, 'not', 'there', 'yet')
  return databaseKind() === 'sqlite' ? { folder } : { folder, url: await createDatabase(t) }
}

test('a key and an account are made before a gateway has ever run, by two tools at once', async (t) => {
  const place = await newPlace(t)
  const [key, account] = await Promise.all([
    spawn(place, 'keys', 'create', '--scopes', 'models:read, files:read', '--expires', '30d'),
    spawn(place, 'accounts', 'create', 'Studio A', '--metered'),
  ])
  assert.deepEqual([key.code, account.code], [0, 0], key.stderr + account.stderr)
  const [, id] = /^key_id +(\w+)$/m.exec(key.stdout) ?? []
  assert.match(key.stdout, RegExp(`^sep_${id}_[0-9a-f]{64}$`, 'm'))
  assert.match(account.stdout, /^metered +true$/m)
  const { data } = await runJson(place, 'keys', 'list')
  assert.deepEqual(
    data.map(({ key_id, scopes }: Record<string, unknown>) => [key_id, scopes]),
    [[id, ['models:read', 'files:read']]],
  )
  const table = await run(place, 'keys', 'list')
  assert.match(table.stdout, RegExp(`^key_id .*\n${id} `))
  assert.ok(!table.stdout.includes('sep_'), 'the key is not shown again')
  if (place.url !== undefined) return
  const { mode } = await stat(join(place.folder, 'winnow.db'))
  assert.equal(mode & 0o077, 0, "the database is nobody else's business")
})

test('an account is credited by several tools at once, and for one reference once', async (t) => {
  const place = await newPlace(t)
  const { account_id: id } = await runJson(place, 'accounts', 'create', 'x', '--metered')
  await Promise.all(
    ['20', '40'].map((seconds) =>
      spawn(place, 'accounts', 'credit', id, seconds, '--reference', seconds),
    ),
  )
  await runJson(place, 'accounts', 'credit', id, '40', '--reference', '40')
  const refused = await run(place, 'accounts', 'credit', id, '--', '-61')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /60 s can be taken back/)
  const shown = await runJson(place, 'accounts', 'show', id)
  assert.deepEqual([shown.balance_seconds, shown.reserved_seconds], [60, 0])
  assert.equal((await runJson(place, 'accounts', 'list')).data.length, 1)
})

test('accounts changes prints who changed what, the latest first', async (t) => {
  const place = await newPlace(t)
  const { account_id: id } = await runJson(place, 'accounts', 'create', 'Studio A')
  await runJson(place, 'accounts', 'credit', id, '60', '--reference', 'invoice-17')
  const { key_id: keyId } = await runJson(place, 'keys', 'create', '--scopes', 'models:read')
  const changes = async (...words: string[]) =>
    (await runJson(place, 'accounts', 'changes', ...words)).data as Record<string, string>[]
  const ofAccount = await changes('--account', id)
  assert.deepEqual(
    new Set(ofAccount.map(({ action }) => action)),
    new Set(['account.create', 'account.credit']),
  )
  const [{ tool, origin, details } = {}] = await changes('--key', keyId)
  assert.equal(tool, 'command_line')
  assert.match(origin ?? '', new RegExp(`^\\w[^@]*@${hostname()}$`))
  assert.deepEqual(JSON.parse(details ?? ''), {
    name: '',
    scopes: ['models:read'],
    expires_at: null,
  })
  assert.equal((await changes('--limit', '2')).length, 2)
  for (const wrong of ['0', '1001', 'x']) {
    const { code, stderr } = await run(place, 'accounts', 'changes', '--limit', wrong)
    assert.deepEqual([code, stderr], [1, 'limit must be a whole number from 1 to 1000.\n'])
  }
})

test('accounts usage prints what each account used by day, as a table, JSON or CSV', async (t) => {
  const gateway = await startGateway(t)
  const place = gateway.database
  await complete(gateway, await submitted(gateway), { device_seconds: 1.25 })
  const words = ['accounts', 'usage', '--from', '2026-01-01', '--to', '2026-01-31'] as const
  const { data } = await runJson(place, ...words)
  const { account_id: id } = data[0]
  assert.deepEqual([data.length, data[0].completed, data[0].device_seconds], [1, 1, 1.25])
  const csv = await run(place, ...words, '--csv')
  assert.match(csv.stdout, RegExp(`^day,.*device_seconds\r\n2026-01-02,${id},.*,1,0,13,1.25\r\n$`))
  const table = await run(place, ...words, '--account', id)
  assert.match(table.stdout, RegExp(`^day .*\n2026-01-02 +${id} `))
  const wrong = await run(place, 'accounts', 'usage', '--from', 'x', '--csv')
  assert.deepEqual([wrong.code, wrong.stdout], [1, ''])
  assert.equal(wrong.stderr, 'from must be a day such as 2026-01-31.\n')
})

test('a running gateway applies at once what a tool has done to its keys', async (t) => {
  const gateway = await startGateway(t)
  const place = gateway.database
  const status = async (key: string) =>
    (await gateway.call('GET', '/v1/models', { key })).statusCode
  const made = await runJson(place, 'keys', 'create', '--scopes', 'models:read', '--name', 'CI')
  assert.equal(await status(made.key), 200)
  const rotated = await runJson(place, 'keys', 'rotate', made.key_id)
  assert.deepEqual([await status(made.key), await status(rotated.key)], [401, 200])
  const revoked = await run(place, 'keys', 'revoke', made.key_id)
  assert.match(revoked.stdout, /^revoked_at +\d{4}-/m)
  assert.equal(await status(rotated.key), 401)
})

test('a running gateway refuses the keys of an account that a tool disables, until it is enabled', async (t) => {
  const gateway = await startGateway(t)
  const place = gateway.database
  const code = async () =>
    (await gateway.call('GET', '/v1/models')).json().error?.code as string | undefined
  const { account_id: id } = (await gateway.call('GET', '/v1/account')).json()
  const requestId = await submitted(gateway)
  const disabled = await run(place, 'accounts', 'disable', id)
  assert.match(disabled.stdout, /^status +disabled$/m)
  assert.equal(await code(), 'ACCOUNT_DISABLED')
  await closeAccounts(gateway.deps)
  assert.equal((await runJson(place, 'accounts', 'enable', id)).status, 'active')
  assert.equal(await code(), undefined)
  const { status, error } = (
    await gateway.call('GET', `/v1/queue/requests/${requestId}/status`)
  ).json()
  assert.deepEqual([status, error.code], ['FAILED', 'CANCELED'])

  const unsure = await run(place, 'accounts', 'delete', id)
  assert.deepEqual([unsure.code, unsure.stdout], [2, ''])
  assert.match(unsure.stderr, /add --yes/)
  assert.equal(await code(), undefined)
  const deleted = await run(place, 'accounts', 'delete', id, '--yes')
  assert.match(deleted.stdout, /^status +deleted$/m)
  assert.equal(await code(), 'UNAUTHENTICATED')
  const again = await run(place, 'accounts', 'delete', id, '--yes')
  assert.deepEqual([again.code, again.stderr], [1, `The account ${id} was deleted.\n`])
})

test('a command line that is wrong says how, and changes nothing', async (t) => {
  const place = await newPlace(t)
  const misused: [Parameters<typeof run>[1], string[], RegExp][] = [
    ['keys', [], /Give one of create, list, revoke, rotate/],
    ['keys', ['constructor'], /Give one of/],
    ['keys', ['create'], /needs --scopes/],
    ['accounts', ['create', 'x', 'y'], /The command is: create NAME/],
    ['accounts', ['credit', 'x', '1.5'], /SECONDS must be a whole number/],
  ]
  for (const [tool, words, says] of misused) {
    const { code, stderr } = await run(place, tool, ...words)
    assert.equal(code, 2, stderr)
    assert.match(stderr, says)
  }
  const refused = await run(place, 'keys', 'create', '--scopes', 'all')
  assert.equal(refused.code, 1)
  assert.equal(
    refused.stderr,
    'scopes[0] must be one of models:read, files:write, files:read, audio:separate, keys:manage.\n',
  )
  const help = await run(place, 'accounts', '--help')
  assert.deepEqual([help.code, help.stderr], [0, ''])
  assert.match(help.stdout, /^Usage: npm run accounts/)
  assert.deepEqual((await runJson(place, 'keys', 'list')).data, [])
})
