/** Runs `npm start` like somebody who has just cloned the repository, and opens the printed address. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chooseExample, waitForPlayer, separate } from './playground.ts'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Runs `npm start` in a terminal, without a shell between, because dash would end with 130 after a
 * Ctrl-C.
 * @param dataFolder must be empty
 * @returns what it has printed so far, and a function that presses Ctrl-C and waits for its end
 */
async function npmStart(t: TestContext, dataFolder: string) {
  const { BOOTSTRAP_API_KEY: _key, ...env } = process.env
  const ports = { PORT: '0', GRPC_PORT: '0', METRICS_PORT: '0' }
  const npm = spawn('script', ['--quiet', '--return', '--command', 'exec npm start', '/dev/null'], {
    cwd: ROOT,
    env: { ...env, ...ports, DATA_DIR: dataFolder },
  })
  const ended = once(npm, 'exit') as Promise<[number]>
  const interrupt = async () => {
    if (npm.exitCode === null) npm.stdin.write('\u0003')
    return (await ended)[0]
  }
  t.after(async () => {
    await interrupt()
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 })
  })
  let printed = ''
  const ready = new Promise<void>((resolve) => {
    for (const output of [npm.stdout, npm.stderr]) {
      output.on('data', (piece) => {
        printed += String(piece).replaceAll('\r', '')
        if (printed.includes('Ctrl-C stops it')) resolve()
      })
    }
  })
  await Promise.race([ready, ended.then(() => assert.fail(printed))])
  return { printed: () => printed, interrupt }
}

test('the address that npm start prints opens the page without a key, once, and Ctrl-C ends it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-start-'))
  const npm = await npmStart(t, folder)
  const printed = npm.printed()
  const address = /Try it in a page +(http:\S+#code=[0-9a-f]{64})\n/.exec(printed)?.[1]
  assert.ok(address, printed)

  const browser = await launchBrowser(t)
  const page = await openPage(t, browser, address)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  await waitForPlayer(page)

  const forAdmins = /For admins +(http:\S+#admin=adm_code_\w+)\n/.exec(printed)?.[1]
  assert.ok(forAdmins, printed)
  const admin = await openPage(t, browser, forAdmins)
  await admin.getByText('Nothing runs or waits.').waitFor()
  assert.equal(new URL(admin.url()).hash, '#/admin/work', 'the code has left the address')
  await admin.reload()
  await admin.getByRole('region', { name: 'Requests' }).waitFor()

  const elsewhere = await openPage(t, browser, address)
  await elsewhere
    .getByRole('alert')
    .getByText(/^The code is unknown, used or older/)
    .waitFor()
  await enterKey(elsewhere, await readFile(join(folder, 'api-key'), 'utf8'))
  await elsewhere.getByRole('listitem').filter({ hasText: 'piano' }).waitFor()

  await page.goto(address) // on the open page, which loads again: the session continues
  await page.waitForURL(({ hash }) => hash === '') // the code has left the address
  await page.getByRole('listitem').filter({ hasText: 'piano' }).waitFor()

  const codeOf = async () => {
    const headers = { authorization: `Bearer ${await readFile(join(folder, 'api-key'), 'utf8')}` }
    const reply = await fetch(new URL('/playground/codes', address), { method: 'POST', headers })
    return ((await reply.json()) as { code: string }).code
  }
  const tokenOf = () =>
    page.evaluate(async () => {
      const session = (await (await fetch('/playground/session')).json()) as { csrf_token: string }
      return session.csrf_token
    })
  const openCode = async (answer: 'accept' | 'dismiss') => {
    const asked = page.waitForEvent('dialog').then(async (dialog) => {
      await dialog[answer]()
      return dialog.message()
    })
    await page.goto('about:blank')
    await page.goto(new URL(`/#code=${await codeOf()}`, address).href)
    assert.match(await asked, /^You are signed in already/)
    await page.getByRole('listitem').filter({ hasText: 'piano' }).waitFor()
    return tokenOf()
  }
  const before = await tokenOf()
  assert.equal(await openCode('dismiss'), before, 'a link replaces no session unasked')
  assert.notEqual(await openCode('accept'), before)

  const code = new URL(address).hash.replace('#code=', '')
  for (const name of await readdir(join(folder, 'logs'))) {
    assert.ok(!(await readFile(join(folder, 'logs', name), 'utf8')).includes(code), name)
  }

  assert.equal(await npm.interrupt(), 0, npm.printed()) // it arrives twice, since npm passes it on
  assert.match(npm.printed(), /Stopping…/)
  assert.doesNotMatch(npm.printed(), /at once/)
})
