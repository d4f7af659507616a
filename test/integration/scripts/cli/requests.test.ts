/** `npm run winnow -- requests` and `open`, on a real gateway. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { ensureInstallation } from '../../../../gateway/store/installation.ts'
import { open } from '../../../../scripts/cli/open/command.ts'
import { writeOwnAddress } from '../../../../shared/own-address.ts'
import { requests } from '../../../../scripts/cli/requests/command.ts'
import { runCommand } from '../../../support/processes/run-command.ts'
import { API, startGateway } from '../../../support/gateway/start-gateway.ts'
import { onDisk } from '../../../support/gateway/stored.ts'

const COMMAND = fileURLToPath(new URL('../../../../scripts/cli/main.ts', import.meta.url))

async function start(t: TestContext) {
  const gateway = await startGateway(t)
  const env = { WINNOW_URL: await gateway.listen(), WINNOW_API_KEY: gateway.key }
  const { signal } = new AbortController()
  const run = (...words: string[]) => runCommand(requests, words, { env, signal })
  return { gateway, env, run }
}

/** Finds the ids in a printed list. */
const idsIn = (text: string): string[] => text.match(/req_\w+/g) ?? []

test('requests are listed, the newest first, and deleted by their ids', async (t) => {
  const { gateway, run } = await start(t)
  assert.deepEqual(await run('list'), { code: 0, text: 'none\n', errors: '' })
  const first = await gateway.submitted({ prompts: ['a bell', 'a horn'] })
  await gateway.complete(first)
  gateway.clock.advance(1_000)
  const second = await gateway.submitted({ prompt: 'a dog' })
  const listed = await run('list')
  assert.match(listed.text, /^request_id +created_at +status +file_name +prompts\n/)
  assert.deepEqual(idsIn(listed.text), [second, first])
  assert.match(listed.text, /COMPLETED +concert\.m4a +a bell, a horn$/m)
  assert.deepEqual(idsIn((await run('list', '--limit', '1')).text), [second])
  assert.deepEqual(idsIn((await run('list', '--status', 'completed')).text), [first])
  const { data } = JSON.parse((await run('list', '--json')).text)
  assert.deepEqual(data, (await gateway.call('GET', `${API}/requests`)).json().data)

  const deleted = await run('delete', second, first, first)
  assert.deepEqual(deleted, { code: 0, text: `${second}\n${first}\n`, errors: '' })
  assert.equal((await run('list')).text, 'none\n')
  assert.equal((await onDisk(gateway)).filter((path) => path.startsWith('outputs')).length, 0)
})

test('an unreachable service is tried twice, and then named', async (t) => {
  let tries = 0
  const server = createServer((socket) => {
    tries += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { signal } = new AbortController()
  const env = { WINNOW_URL: url, WINNOW_API_KEY: 'any' }
  const { code, errors } = await runCommand(requests, ['list'], { env, signal })
  assert.equal(code, 1)
  assert.ok(errors.startsWith(`${url} does not answer. Is the service running?`), errors)
  assert.equal(tries, 2)
})

test('a list continues over pages, up to its limit', async (t) => {
  const { gateway, run } = await start(t)
  await gateway.submitted()
  const row = await gateway.store.selectFrom('requests').selectAll().executeTakeFirstOrThrow()
  const copies = Array.from({ length: 120 }, (_, i) => ({ ...row, request_id: `req_copy${i}` }))
  await gateway.store.insertInto('requests').values(copies).execute()
  for (const [limit, count] of [
    ['1000', 121],
    ['110', 110],
  ] as const) {
    const ids = idsIn((await run('list', '--limit', limit)).text)
    assert.equal(new Set(ids).size, count)
  }
  assert.equal(idsIn((await run('list')).text).length, 20)
})

test("whatever can't be deleted is named with the reason, and the rest is deleted", async (t) => {
  const { gateway, run } = await start(t)
  const source = await gateway.submitted()
  await gateway.complete(source)
  const input = { prompt: 'a gong', request_id: source, output: 'residual' }
  await gateway.call('POST', `${API}/audio/separate`, { body: { input } })
  const other = await gateway.submitted()
  const { code, text, errors } = await run('delete', source, 'req_unknown', other)
  assert.deepEqual([code, text], [1, `${other}\n`])
  const lines = errors.trim().split('\n')
  assert.match(lines[0]!, RegExp(`^${source}: MEDIA_IN_USE: `))
  assert.match(lines[1]!, /^req_unknown: NOT_FOUND: There is no request with this id\.$/)
  const json = await run('delete', 'req_unknown', '--json')
  assert.deepEqual([json.code, JSON.parse(json.text).error.code], [1, 'NOT_FOUND'])
})

test('a result is shared, its shares are listed and revoked', async (t) => {
  const { gateway, run } = await start(t)
  const id = await gateway.submitted()
  await gateway.complete(id)
  const shared = await run('share', id, '--for', '2d')
  assert.equal(shared.code, 0, shared.errors)
  assert.match(shared.text, /^http:\/\/winnow\.test\/#share=shr_\w{64}\n$/)
  const { data } = (await gateway.call('GET', '/v1/shares')).json()
  const [{ share_id: shareId, expires_at: end }] = data
  assert.equal(Date.parse(end), gateway.clock.now() + 48 * 3_600_000)
  assert.equal(shared.errors, `plays until ${end}; revoke it: unshare ${shareId}\n`)
  const listed = await run('shares')
  assert.match(listed.text, RegExp(`^share_id .*\n${shareId} +${id} `))
  assert.deepEqual(JSON.parse((await run('shares', '--json')).text).data, data)
  const { url } = JSON.parse((await run('share', id, '--json')).text)
  assert.match(url, /#share=/)
  const revoked = await run('unshare', shareId, shareId, 'share_unknown')
  assert.deepEqual([revoked.code, revoked.text], [1, `${shareId}\n`])
  assert.match(revoked.errors, /^share_unknown: NOT_FOUND: There is no share with this id\.$/m)
})

test('the page opens in a browser, signed in, at a request; without a screen its address is printed', async (t) => {
  const { gateway, env } = await start(t)
  const id = await gateway.submitted()
  const printed = await runCommand(open, [id], { env })
  const address = RegExp(`^${env.WINNOW_URL}/#code=([0-9a-f]{64})&request=${id}\n$`)
  const [, code] = address.exec(printed.text)!
  assert.match(printed.errors, /^Open this address in a browser\./)
  const payload = { code }
  const url = '/playground/sessions'
  assert.equal((await gateway.app.inject({ method: 'POST', url, payload })).statusCode, 201)

  const opened = join(gateway.folder, 'opened')
  const program = `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`
  await writeFile(join(gateway.folder, 'xdg-open'), program, { mode: 0o755 })
  const screen = { ...env, DISPLAY: ':0', PATH: `${gateway.folder}:${process.env.PATH}` }
  const { text, errors } = await runCommand(open, [], { env: screen })
  assert.match(errors, /^Opening a browser\./)
  while (!existsSync(opened)) await sleep(10)
  assert.equal(`${await readFile(opened, 'utf8')}\n`, text)
  const without = { ...screen, PATH: '/nowhere' }
  const unopened = await runCommand(open, [], { env: without })
  assert.match(unopened.text, /#code=[0-9a-f]{64}\n$/)
  assert.match(unopened.errors, /^Open this address in a browser\./)

  const { WINNOW_URL, ...unnamed } = env
  await writeOwnAddress(gateway.folder, WINNOW_URL)
  const inContainer = {
    ...unnamed,
    DATA_DIR: gateway.folder,
    PUBLIC_URL: 'https://sounds.example/',
  }
  const outside = await runCommand(open, [], { env: inContainer })
  assert.match(outside.text, /^https:\/\/sounds\.example\/#code=[0-9a-f]{64}\n$/)

  const unknown = await runCommand(open, ['req_unknown'], { env })
  assert.deepEqual([unknown.code, unknown.text], [1, ''])
  assert.match(unknown.errors, /^NOT_FOUND: /)
  const two = await runCommand(open, [id, id], { env })
  assert.match(two.errors, /^It takes: \[ID\] \(see --help\)\./)
})

test('the admin pages open with a code that is used once', async (t) => {
  const adminToken = 'the-admin-token-of-this-test'
  const gateway = await startGateway(t, { config: { adminToken } })
  await ensureInstallation(gateway.store, 'inst_test')
  const env = { WINNOW_URL: await gateway.listen(), ADMIN_URL: '', ADMIN_TOKEN: adminToken }
  const { signal } = new AbortController()
  const { text, errors } = await runCommand(open, ['--admin'], { env, signal })
  const [, code] = RegExp(`^${env.WINNOW_URL}/#admin=(adm_code_\\w+)\n$`).exec(text) ?? []
  assert.ok(code !== undefined, text + errors)
  const headers = { authorization: `Bearer ${code}` }
  const use = () => fetch(`${env.WINNOW_URL}/admin/session`, { method: 'POST', headers })
  assert.deepEqual([(await use()).status, (await use()).status], [200, 401])
  const wrong = await runCommand(open, ['--admin', '--token', 'x'.repeat(16)], { env, signal })
  assert.deepEqual([wrong.code, wrong.errors], [1, 'The gateway has another ADMIN_TOKEN.\n'])
})

test('a service without the page says so', async (t) => {
  const gateway = await startGateway(t, { config: { playground: 'off' } })
  const env = { WINNOW_URL: await gateway.listen(), WINNOW_API_KEY: gateway.key }
  const { code, errors } = await runCommand(open, [], { env })
  assert.deepEqual([code, errors], [1, `${env.WINNOW_URL} has no page: PLAYGROUND is off there.\n`])
})

test('a refused key ends the command before anything is deleted', async (t) => {
  const { gateway, run } = await start(t)
  const id = await gateway.submitted()
  const refused = await run('delete', id, 'req_other', '--key', 'sep_wrong')
  assert.deepEqual([refused.code, refused.text], [1, ''])
  assert.equal(refused.errors.match(/UNAUTHENTICATED/g)?.length, 1)
  assert.equal((await gateway.call('GET', `${API}/requests/${id}/status`)).statusCode, 200)
})

test('as a process it uses the key in DATA_DIR, and shows no control characters', async (t) => {
  const { gateway, env } = await start(t)
  await gateway.submitted({ prompt: 'a \u001b[31mbell' })
  await writeFile(join(gateway.folder, 'api-key'), `${gateway.key}\n`)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['scripts/run.mjs', COMMAND, 'requests', 'list', '--url', env.WINNOW_URL],
    { env: { PATH: process.env.PATH, DATA_DIR: gateway.folder } },
  )
  assert.equal(idsIn(stdout).length, 1)
  assert.equal(stdout.includes('\u001b'), false)
})

test('a wrong command line is explained, without calling the service', async () => {
  const env = { WINNOW_URL: 'http://127.0.0.1:1' }
  for (const [words, says] of [
    [[], /^Give one of list, delete/],
    [['delet', 'req_1'], /Did you mean "delete"\?$/m],
    [['list', 'req_1'], /The command is: list \(see --help\)/],
    [['delete'], /The command is: delete ID… \(see --help\)/],
    [['delete', 'req_1', '--status', 'FAILED'], /there is no option --status/],
    [['list', '--limit', '0'], /from 1 to 1000, not "0"/],
    [['list', '--limit', '1001'], /from 1 to 1000/],
    [['list', '--status', 'complete'], /Did you mean "COMPLETED"\?$/m],
    [['list', '--url', 'nowhere'], /must be an http or https URL/],
    [['share'], /The command is: share ID \(see --help\)/],
    [['share', 'req_1', '--for', '8d'], /--for takes 60s to 7d, such as 12h, not "8d"/],
    [['share', 'req_1', '--for', '120'], /not "120"/],
    [['list', '--all'], /there is no option --all/],
  ] as const) {
    const { code, text, errors } = await runCommand(requests, words, { env })
    assert.deepEqual([code, text], [2, ''], errors)
    assert.match(errors.trim(), says)
  }
})
