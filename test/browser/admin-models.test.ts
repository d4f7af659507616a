/** Models fetched, loaded, unloaded and removed by an admin: over the API and on the page. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import type { components } from '../../clients/typescript/api.ts'
import { launchBrowser, openPage } from '../support/page/browser.ts'
import { examplePath } from '../support/media/examples.ts'
import {
  API_KEY,
  separateFile,
  startWinnow,
  type Winnow,
} from '../support/processes/start-winnow.ts'
import { runCommand } from '../support/processes/run-command.ts'
import { startModelHost, TINY_FILE } from '../support/engine/model-host.ts'
import { model } from '../../scripts/cli/model/command.ts'
import { accounts } from '../../scripts/cli/admin/accounts.ts'
import { ADMIN_TOKEN } from '../support/gateway/admin.ts'
import { assertAccessible, signedIn } from './playground.ts'

type Model = components['schemas']['AdminModel']

const ENGINE = 'test/support/engine/engine-with-catalogue.ts'

let winnow: Winnow
let browser: Browser
/** Downloads that wait for the rest of their file. */
const waiting: ServerResponse[] = []

before(async (t) => {
  const context = t as TestContext
  const { entry } = await startModelHost(context, ({ url }, response) => {
    if (url === '/wrong') response.end(Buffer.alloc(TINY_FILE.length))
    else {
      response.writeHead(200, { 'content-length': TINY_FILE.length })
      response.write(TINY_FILE.subarray(0, 100_000), () => waiting.push(response))
    }
    return true
  })
  const [file] = entry.files
  const wrong = { ...file!, url: file!.url.replace(/\w+$/, 'wrong') }
  const catalogue = [entry, { ...entry, name: 'wrong', isFreeToUse: true, files: [wrong] }]
  const env = { ADMIN_TOKEN, TEST_CATALOGUE: JSON.stringify(catalogue), ENGINE_ID: 'the-engine' }
  winnow = await startWinnow(context, { engines: 0, env })
  await winnow.startEngine({}, ENGINE)
  browser = await launchBrowser(context)
})

async function admin(method: string, path: string, body?: object, token = ADMIN_TOKEN) {
  const reply = await fetch(`${winnow.url}/admin/models${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: reply.status, body: (await reply.json()) as any }
}

const POLL_MS = 20

/** A model, once the engine has announced it. */
async function modelNamed(name: string): Promise<Model> {
  for (;;) {
    const { data } = (await admin('GET', '')).body as { data: Model[] }
    const model = data.find((each) => each.name === name)
    if (model) return model
    await sleep(POLL_MS)
  }
}

/** How a model is on the engine, once it is so. */
async function until(name: string, isSo: (on: Model['engines'][number]) => boolean) {
  for (;;) {
    const [on] = (await modelNamed(name)).engines
    if (on && isSo(on)) return on
    await sleep(POLL_MS)
  }
}

/** Sends the rest of the download under way. */
async function sendTheRest(): Promise<void> {
  while (waiting.length === 0) await sleep(5)
  waiting.pop()!.end(TINY_FILE.subarray(100_000))
}

const modelsFolder = () => join(winnow.folder, 'models')

test('an admin fetches a model with its progress, loads it, separates by it and removes it', async () => {
  const listed = await modelNamed('tiny')
  assert.deepEqual(
    [listed.licence_word, listed.licence_question, listed.megabytes, listed.built_in],
    ['test only', true, 1, false],
  )
  const on = { engine_id: 'the-engine', bytes: null, bytes_total: null, problem: null }
  assert.deepEqual(listed.engines, [{ ...on, state: 'FETCHABLE' }])
  const asked = await admin('POST', '/tiny/fetch', {})
  assert.equal(asked.status, 400)
  assert.equal(asked.body.error.param, 'licence_accepted')
  assert.match(asked.body.error.message, /For this test only\. See https:\/\/example\.com\/licence/)
  const begun = await admin('POST', '/tiny/fetch', { licence_accepted: true })
  assert.equal(begun.status, 202, JSON.stringify(begun.body))
  const part = await until('tiny', ({ bytes }) => bytes !== null && bytes > 0)
  assert.deepEqual([part.state, part.bytes! < part.bytes_total!], ['DOWNLOADING', true])
  await sendTheRest()
  await until('tiny', ({ state }) => state === 'NOT_LOADED')
  assert.ok(existsSync(join(modelsFolder(), 'tiny/model.json')))
  const env = { DATA_DIR: winnow.folder, WINNOW_URL: winnow.url, ADMIN_TOKEN }
  const command = await runCommand(model, ['load', 'tiny'], { env })
  assert.match(command.text, /^the-engine: load(ing|ed)\n$/, command.errors)
  await until('tiny', ({ state }) => state === 'LOADED')
  const input = { prompt: 'vocals', separator: 'tiny' }
  const { last } = await separateFile(winnow, examplePath('speech-over-piano.wav'), input)
  assert.equal(last.separator, 'tiny', JSON.stringify(last))
  assert.equal((await admin('POST', '/tiny/unload', {})).status, 202)
  await until('tiny', ({ state }) => state === 'NOT_LOADED')
  const removed = await admin('DELETE', '/tiny?engine_id=the-engine')
  assert.equal(removed.status, 202, JSON.stringify(removed.body))
  await until('tiny', ({ state }) => state === 'FETCHABLE')
  assert.equal(existsSync(join(modelsFolder(), 'tiny')), false)
})

test('the record of changes has what an admin did, and with which licence', async () => {
  const env = { DATA_DIR: winnow.folder }
  const { text } = await runCommand(accounts, ['changes', '--json'], { env })
  const { data } = JSON.parse(text) as { data: { action: string; details: string; tool: string }[] }
  const changes = data.filter(({ action }) => action.startsWith('model.')).reverse()
  assert.deepEqual(
    changes.map(({ action, tool, details }) => [action, tool, JSON.parse(details)]),
    ['fetch', 'load', 'unload', 'remove'].map((verb) => [
      `model.${verb}`,
      'admin_api',
      {
        model: 'tiny',
        engine_ids: ['the-engine'],
        ...(verb === 'fetch' && { licence_accepted: true }),
      },
    ]),
  )
})

test('a file with another checksum leaves nothing but the reason', async () => {
  assert.equal((await admin('POST', '/wrong/fetch', {})).status, 202)
  const { state, problem } = await until('wrong', ({ problem }) => problem !== null)
  assert.equal(state, 'FETCHABLE')
  assert.match(problem!, /its SHA-256 is [0-9a-f]{64}, not feeb7c97/)
  const names = readdirSync(modelsFolder()).filter((name) => name !== '.downloads')
  assert.deepEqual(names, [])
  assert.deepEqual(readdirSync(join(modelsFolder(), '.downloads/wrong')), [])
  assert.equal((await admin('DELETE', '/wrong')).status, 202)
  assert.equal((await modelNamed('wrong')).engines[0]!.problem, null)
})

test('what can not be is refused with what there is, and keys of accounts do nothing here', async () => {
  const refused: [string, string, object | undefined, number, RegExp][] = [
    ['POST', '/flute/fetch', {}, 404, /There is no model flute to fetch, only scnet, .*tiny/],
    ['POST', '/spleeter/fetch', {}, 404, /no model spleeter to fetch/],
    ['POST', '/flute/load', {}, 404, /No model "flute" is installed here, only mini/],
    ['POST', '/mini/unload', {}, 409, /the-engine: mini came with Winnow/],
    ['DELETE', '/mini', undefined, 409, /the-engine: mini came with Winnow: it can't be removed/],
    ['DELETE', '/tiny', undefined, 404, /No model "tiny" is installed/],
    ['POST', '/tiny/load', { engine_id: 'other' }, 404, /no engine other, only the-engine/],
    ['POST', '/tiny/fetch', { engine_id: 'other' }, 404, /no engine other, only the-engine/],
    ['POST', '/tiny/fetch', { url: 'http://x' }, 400, /url/],
  ]
  for (const [method, path, body, status, message] of refused) {
    const reply = await admin(method, path, body)
    assert.equal(reply.status, status, `${method} ${path}: ${JSON.stringify(reply.body)}`)
    assert.match(reply.body.error.message, message)
    assert.equal((await admin(method, path, body, API_KEY)).status, 401)
  }
  assert.equal(existsSync(join(modelsFolder(), 'tiny')), false)
})

test('on the page an admin accepts a licence, sees the download, loads, unloads and removes', async (t) => {
  const page = await openPage(t, browser, winnow.url)
  await page.getByRole('button', { name: 'Admins' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('link', { name: 'Models', exact: true }).click()
  const models = page.getByRole('region', { name: 'Models' })
  const row = models.getByRole('row').filter({ hasText: /^tiny/ })
  await row.getByText('1 MB').waitFor()
  await row.getByText('test only').waitFor()
  const press = (name: string) => row.getByRole('button', { name, exact: true }).click()
  await press('Fetch tiny')
  await row.getByText('For this test only.').waitFor()
  await assertAccessible(page, 'a licence to accept')
  await press('Accept and fetch tiny')
  const progress = row.getByRole('progressbar', { name: 'Download of tiny' })
  await progress.waitFor()
  await until('tiny', ({ bytes }) => bytes !== null && bytes > 0)
  await page.waitForFunction(() => (document.querySelector('progress')?.value ?? 0) > 0)
  await assertAccessible(page, 'a download')
  await sendTheRest()
  await press('Load tiny')
  await row.getByText('loaded', { exact: true }).waitFor()
  await press('Unload tiny')
  await row.getByText('installed, not loaded').waitFor()
  await press('Remove tiny')
  assert.equal((await modelNamed('tiny')).engines[0]!.state, 'NOT_LOADED', 'the first press')
  await press('Really Remove tiny')
  await row.getByText('can be fetched').waitFor()
  const wrong = models.getByRole('row').filter({ hasText: /^wrong/ })
  await wrong.getByRole('button', { name: 'Fetch wrong' }).click()
  await wrong.getByText(/its SHA-256 is .* the file is removed/).waitFor()
  await assertAccessible(page, 'a failed download')
  assert.equal(await models.getByRole('button', { name: 'Remove mini' }).count(), 0)
})

test('the hint of a better model for songs leads an admin to the models', async (t) => {
  const page = await signedIn({ t, winnow, browser })
  await page.evaluate((token) => sessionStorage.setItem('winnow-admin-token', token), ADMIN_TOKEN)
  await page.reload()
  await page.getByLabel('Prompt 1').fill('vocals')
  await page.getByRole('button', { name: 'the models' }).click()
  await page.getByRole('region', { name: 'Models' }).waitFor()
})
