/** Tests the page's view for developers: code that runs as copied, keys, clients, webhooks. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityProblems, fillPrompts, launchBrowser } from '../support/page/browser.ts'
import { waitForPlayer, separate, signedIn, type Place } from './playground.ts'
import { openSqlite } from '../../gateway/store/driver/sqlite.ts'
import { examplePath } from '../support/media/examples.ts'
import { pythonPackages } from '../support/packages/python-packages.ts'
import { serve } from '../support/http/serve.ts'
import { noise } from '../support/media/signals.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { wavBytes } from '../support/media/wav.ts'

const COMMAND = join(process.cwd(), 'scripts/cli/winnow.mjs')

/** A file name that needs quoting in every language. */
const NAME = `a "friend's" song.wav`

/** Copies the code of a language with the button; returns the clipboard. */
async function copyCode(page: Page, language: string): Promise<string> {
  await page.getByRole('button', { name: language, exact: true }).click()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText('Copied.').waitFor()
  return page.evaluate(() => navigator.clipboard.readText())
}

/** Returns a program's output. @throws Error with it if the program fails */
const run = (folder: string, words: readonly [string, ...string[]], env: NodeJS.ProcessEnv = {}) =>
  new Promise<string>((resolve, reject) => {
    const [program, ...rest] = words
    const options = { cwd: folder, env: { ...process.env, WINNOW_API_KEY: API_KEY, ...env } }
    execFile(program, rest, options, (error, output, errors) =>
      error ? reject(new Error(`${output}\n${errors}`)) : resolve(output),
    )
  })

/** Creates a folder with the file that the page names. */
async function readerFolder(base: string, name: string): Promise<string> {
  const folder = join(base, name)
  await mkdir(folder, { recursive: true })
  await copyFile(examplePath('speech-over-piano.wav'), join(folder, NAME))
  return folder
}

async function chooseAll(page: Page, folder: string): Promise<void> {
  await page.getByLabel('Choose files').setInputFiles(join(folder, NAME))
  await fillPrompts(page, `a friend's "piano"`, 'speech')
  await page.getByText('Options').click()
  await page.getByLabel('Quality').selectOption('fast')
  await page.getByLabel('Find first where the sound is').check()
}

async function chooseAddress(page: Page, address: string): Promise<void> {
  await page.getByLabel('or a public https address').fill(address)
  await page.getByLabel('Prompt 1').fill('noise')
}

/** Returns the options of the last requests as stored, without the preview for the page's player. */
async function storedOptions({ folder }: Winnow, count: number) {
  const store = await openSqlite(join(folder, 'winnow.db'))
  try {
    const rows = await store
      .selectFrom('requests')
      .select(['prompt', 'options', 'file_name', 'audio_url'])
      .orderBy('created_at', 'desc')
      .limit(count)
      .execute()
    return rows.map((row) => {
      const { preview: _ofThePlayer, ...options } = JSON.parse(row.options) as { preview?: true }
      // undo the escaping of form fields
      return { ...row, options, file_name: row.file_name?.replaceAll('%22', '"') }
    })
  } finally {
    await store.destroy()
  }
}

/** Asserts that the folder has the last request's targets, or also the rest, under their own names. */
async function assertSaved({ client }: Winnow, folder: string, hasRest = false): Promise<void> {
  const { data: latest } = await client.list({ limit: 1 })
  const { data } = await client.result(latest[0]!)
  const targets = [...(data.targets ?? [data.target]), ...(hasRest ? [data.residual] : [])]
  for (const { url, file_name: name } of targets) {
    const bytes = Buffer.from(await (await client.open(url)).arrayBuffer())
    assert.ok(bytes.equals(await readFile(join(folder, name))), name)
  }
  const saved = (await readdir(folder)).filter((name) => name.endsWith('.wav') && name !== NAME)
  assert.deepEqual(saved.sort(), targets.map((target) => target.file_name).sort())
}

interface Clients {
  typeScript: string
  python: string
}

/** Runs the code of each language, and separates on the page: all five requests must be the same. */
async function runsAll({ t, winnow, browser }: Place, clients: Clients, scene: Scene) {
  const page = await signedIn({ t, winnow, browser })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const folderOf = (name: string) => readerFolder(join(winnow.folder, scene.name), name)
  await scene.choose(page, await folderOf('chosen'))
  await page.getByText('The same from your own code').click()

  const curl = await copyCode(page, 'curl')
  const byCurl = await folderOf('curl')
  await run(byCurl, ['sh', '-c', curl])
  await assertSaved(winnow, byCurl, true)

  const ts = await folderOf('ts')
  await mkdir(join(ts, 'node_modules'))
  await symlink(clients.typeScript, join(ts, 'node_modules/winnow-client'))
  await writeFile(join(ts, 'code.mjs'), await copyCode(page, 'TypeScript'))
  await run(ts, [process.execPath, 'code.mjs'])
  await assertSaved(winnow, ts)

  const python = await folderOf('python')
  await writeFile(join(python, 'code.py'), await copyCode(page, 'Python'))
  await run(python, ['python3', 'code.py'], { PYTHONPATH: clients.python })
  await assertSaved(winnow, python)

  const byCommand = await folderOf('command')
  const command = (await copyCode(page, 'Command line')).replace(/^winnow/m, `node ${COMMAND}`)
  await run(byCommand, ['sh', '-c', command])

  await separate(page)
  await waitForPlayer(page)
  const [ofPage, ...others] = await storedOptions(winnow, 5)
  assert.deepEqual(others, [ofPage, ofPage, ofPage, ofPage])
}

interface Scene {
  name: string
  /** @param folder contains the file */
  choose(page: Page, folder: string): Promise<void>
}

/** Installs the clients that the gateway serves, with the commands that the page shows. */
async function installServed(winnow: Winnow): Promise<Clients> {
  const folder = join(winnow.folder, 'installed')
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  const { data } = (await (await fetch(`${winnow.url}/clients`)).json()) as {
    data: { url: string; sha256: string }[]
  }
  const options = ['--no-audit', '--no-fund']
  await run(folder, ['npm', 'install', ...options, `${winnow.url}/clients/winnow-client.tgz`])
  const wheel = `${data[1]!.url}#sha256=${data[1]!.sha256}`
  const target = ['--quiet', '--disable-pip-version-check', '--no-deps', '--target', 'python']
  await run(folder, ['python3', '-m', 'pip', 'install', ...target, wheel])
  const httpx = await pythonPackages('httpx==0.28.1')
  return {
    typeScript: join(folder, 'node_modules/winnow-client'),
    python: `${join(folder, 'python')}:${httpx}`,
  }
}

test('the code that the page shows to developers works', async (t) => {
  const browser = await launchBrowser(t)
  const winnow = await startWinnow(t, { env: { EGRESS_ALLOW_CIDRS: '127.0.0.1/32' } })
  const clients = await installServed(winnow)
  const sound = wavBytes([noise(1, 8_000)], 8_000)
  const elsewhere = await serve(t, (_request, reply) => void reply.end(sound))
  const address = `${elsewhere.url}/far%20away.wav?of='me'`
  const scenes: Scene[] = [
    { name: 'a file, two prompts and options', choose: chooseAll },
    { name: 'an address', choose: (page) => chooseAddress(page, address) },
  ]
  for (const scene of scenes) {
    await t.test(scene.name, (t) => runsAll({ t, winnow, browser }, clients, scene))
  }
  await t.test("the developers' view", (t) => developersView({ t, winnow, browser }))
})

/** Creates, rotates and revokes a key, tests a receiver, and checks accessibility at every width. */
async function developersView({ t, winnow, browser }: Place): Promise<void> {
  const page = await signedIn({ t, winnow, browser })
  await page.getByRole('button', { name: 'Developers' }).click()
  await page.getByRole('heading', { name: 'Developers' }).waitFor()
  assert.equal(new URL(page.url()).hash, '#/developers')
  await managesKeys(page, winnow)
  await page.getByText(`npm install ${winnow.url}/clients/winnow-client.tgz`).waitFor()
  await page.getByText(`pip install '${winnow.url}/clients/winnow_client-`).waitFor()

  const receiver = await serve(t, (_request, reply) => void reply.writeHead(204).end())
  const form = page.getByRole('form', { name: 'Send a test' })
  await form.getByLabel('Address').fill(`${receiver.url}/hook`)
  await form.getByLabel(/^Secret/).fill('fifteen letters ') // valid only with its blank
  await form.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText(/Delivered in \d+ ms, status 204/).waitFor()
  const attempts = page.getByRole('region', { name: 'Attempts to deliver' })
  await attempts.getByRole('cell', { name: 'delivered, 204' }).waitFor()

  await managesEndpoints(page, `${receiver.url}/all`)
  for (const [width, colorScheme] of [
    [1_280, 'light'],
    [390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await accessibilityProblems(page), [], `${width}`)
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width)
  }
  await page.goBack()
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
}

async function managesEndpoints(page: Page, url: string): Promise<void> {
  const secret = page.locator('.secret', { hasText: url }).locator('code')
  const form = page.getByRole('form', { name: 'Create an endpoint' })
  await form.getByLabel('Address').fill(url)
  await form.getByRole('button').click()
  const first = await secret.textContent()
  const row = page.getByRole('row').filter({ hasText: url })
  const press = async (action: string) => {
    await row.getByRole('button', { name: `${action} ${url}` }).click()
    await row.getByRole('button', { name: `Really ${action} ${url}` }).click()
  }
  await press('Test')
  await row.getByText('delivered, 204').waitFor()
  await press('Rotate')
  await page.waitForFunction(
    ([url, old]) => {
      const shown = [...document.querySelectorAll('.secret')].find((box) =>
        box.textContent?.includes(url!),
      )
      return ![undefined, old].includes(shown?.querySelector('code')?.textContent ?? undefined)
    },
    [url, first],
  )
  await press('Disable')
  await row.getByText('disabled').waitFor()
  await press('Enable')
  await row.getByText('enabled', { exact: true }).waitFor()
  await row.getByRole('button', { name: `Deliveries to ${url}` }).click()
  await page.getByRole('region', { name: `Deliveries to ${url}` }).waitFor()
  await press('Delete')
  await row.waitFor({ state: 'detached' })
}

async function managesKeys(page: Page, winnow: Winnow): Promise<void> {
  const status = async (key: string) =>
    (await fetch(`${winnow.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
  const secret = async () => (await page.locator('.secret code').textContent()) ?? ''
  const form = page.getByRole('form', { name: 'Create a key' })
  await form.getByLabel('Name').fill('CI')
  await form.getByLabel('files:write').uncheck()
  await form.getByRole('button').click()
  const row = page.getByRole('row').filter({ hasText: 'CI' })
  await row.getByText('models:read files:read audio:separate').waitFor()
  const first = await secret()
  assert.equal(await status(first), 200)
  await row.getByRole('button', { name: 'Rotate CI' }).click()
  await row.getByRole('button', { name: 'Really Rotate CI' }).click()
  await page.waitForFunction(
    (old) => ![null, undefined, old].includes(document.querySelector('.secret code')?.textContent),
    first,
  )
  const second = await secret()
  assert.deepEqual([await status(first), await status(second)], [401, 200])
  await page.reload()
  await row.waitFor()
  assert.equal(await page.locator('.secret').count(), 0, 'it was shown once')
  await row.getByRole('button', { name: 'Revoke CI' }).click()
  await row.getByRole('button', { name: 'Really Revoke CI' }).click()
  await row.getByText('revoked').waitFor()
  assert.equal(await status(second), 401)
}
