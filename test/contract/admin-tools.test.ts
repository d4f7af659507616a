/** `npm run keys` and `npm run accounts`, on a data folder and next to a gateway. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { accounts } from '../../scripts/cli/admin/accounts.ts'
import { keys } from '../../scripts/cli/admin/keys.ts'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { startGateway } from '../support/gateway/start-gateway.ts'
import type { DatabasePlace } from '../support/database/test-database.ts'
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
function newPlace(t: TestContext): DatabasePlace {
  return { folder: join(temporaryFolder(t), 'not', 'there', 'yet') }
}

test('a key and an account are made before a gateway has ever run, by two tools at once', async (t) => {
  const place = newPlace(t)
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
  const { mode } = await stat(join(place.folder, 'winnow.db'))
  assert.equal(mode & 0o077, 0, "the database is nobody else's business")
})

test('an account is credited for one reference once, and gives back no more than it has', async (t) => {
  const place = newPlace(t)
  const { account_id: id } = await runJson(place, 'accounts', 'create', 'x', '--metered')
  for (const seconds of ['20', '40', '40']) {
    await runJson(place, 'accounts', 'credit', id, seconds, '--reference', seconds)
  }
  const refused = await run(place, 'accounts', 'credit', id, '--', '-61')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /60 s can be taken back/)
  const shown = await runJson(place, 'accounts', 'show', id)
  assert.deepEqual([shown.balance_seconds, shown.reserved_seconds], [60, 0])
  assert.equal((await runJson(place, 'accounts', 'list')).data.length, 1)
})

test('accounts changes prints who changed what, the latest first', async (t) => {
  const place = newPlace(t)
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
  await gateway.complete(await gateway.submitted(), { device_seconds: 1.25 })
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

test('a tool disables an account, enables it, and deletes it once it is sure', async (t) => {
  const gateway = await startGateway(t)
  const place = gateway.database
  const id = gateway.accountId
  const code = async () =>
    (await gateway.call('GET', '/v1/models')).json().error?.code as string | undefined
  const disabled = await run(place, 'accounts', 'disable', id)
  assert.match(disabled.stdout, /^status +disabled$/m)
  assert.equal(await code(), 'ACCOUNT_DISABLED')
  assert.equal((await runJson(place, 'accounts', 'enable', id)).status, 'active')
  assert.equal(await code(), undefined)

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
  const place = newPlace(t)
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
