/** Deletes earlier requests on the page: the real gateway, in a real browser. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Dialog, Page } from 'playwright-core'
import {
  API,
  complete,
  startGateway,
  submitted,
  type Gateway,
} from '../support/gateway/start-gateway.ts'
import { onDisk } from '../support/gateway/stored.ts'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'
import { assertAccessible } from './playground.ts'

const PAGE = fileURLToPath(new URL('../../.runtime/web', import.meta.url))

const outputsOf = async (gateway: Gateway) =>
  (await onDisk(gateway)).filter((path) => path.startsWith('outputs'))

const rowOf = (page: Page, prompt: string) => page.getByRole('listitem').filter({ hasText: prompt })

const deleteButton = (page: Page, prompt: string) =>
  page.getByRole('button', { name: `Delete ${prompt} from concert.m4a`, exact: true })

/** Presses the focused button with the keyboard and answers the dialog; returns its question. */
async function press(page: Page, answer: 'accept' | 'dismiss'): Promise<string> {
  const question = new Promise<string>((resolve) => {
    page.once('dialog', (dialog: Dialog) => {
      resolve(dialog.message())
      void dialog[answer]()
    })
  })
  await page.keyboard.press('Enter')
  return question
}

async function start(t: TestContext, gateway: Gateway): Promise<Page> {
  const browser = await launchBrowser(t)
  const page = await openPage(t, browser, await gateway.listen())
  await enterKey(page, gateway.key)
  return page
}

test('earlier requests are deleted with the keyboard, after a question that names what is lost', async (t) => {
  const gateway = await startGateway(t, { config: { playgroundFolder: PAGE } })
  await complete(gateway, await submitted(gateway, { prompts: ['a bell', 'a horn'] }))
  await submitted(gateway, { prompt: 'a waiting one' })
  const page = await start(t, gateway)
  const button = deleteButton(page, 'a bell, a horn')
  await button.waitFor()
  await assertAccessible(page, 'requests that can be deleted')
  await rowOf(page, 'a bell').getByRole('button').first().focus()
  for (const _button of ['Separate again', 'Rename', 'Delete']) await page.keyboard.press('Tab')
  assert.equal(
    await press(page, 'dismiss'),
    'Delete the request "a bell, a horn" from concert.m4a, with its outputs and its log? ' +
      "This can't be undone.",
  )
  assert.equal(await rowOf(page, 'a bell').count(), 1)
  assert.ok((await outputsOf(gateway)).length > 0)

  await press(page, 'accept')
  await rowOf(page, 'a bell').waitFor({ state: 'detached' })
  assert.deepEqual(await outputsOf(gateway), [])
  const heading = page.getByRole('heading', { name: 'Earlier requests' })
  assert.ok(await heading.evaluate((element) => element === document.activeElement))

  page.once('dialog', (dialog) => void dialog.accept('second take.m4a'))
  await page.getByRole('button', { name: 'Rename a waiting one from concert.m4a' }).click()
  await rowOf(page, 'a waiting one').getByText('from second take.m4a').waitFor()
  await page.getByRole('button', { name: 'Delete a waiting one from second take.m4a' }).focus()
  assert.match(await press(page, 'accept'), /It is canceled first/)
  await page.getByText('None. What you separate is listed here.').waitFor()
  const remaining = (await gateway.call('GET', `${API}/requests`)).json()
  assert.deepEqual(remaining.data, [])
})

test('a request that cannot be deleted stays listed with the reason, and a missing one disappears', async (t) => {
  const gateway = await startGateway(t, { config: { playgroundFolder: PAGE } })
  const first = await submitted(gateway, { prompt: 'a bell' })
  await complete(gateway, first)
  const input = { prompt: 'a gong', request_id: first, output: 'residual' }
  const chained = await gateway.call('POST', `${API}/audio/separate`, { body: { input } })
  const page = await start(t, gateway)
  await deleteButton(page, 'a bell').focus()
  await press(page, 'accept')
  await rowOf(page, 'a bell')
    .getByRole('alert')
    .getByText(/^The request \w+ is under way and needs this request's media/)
    .waitFor()
  await assertAccessible(page, 'a request that was not deleted')

  for (const id of [chained.json().request_id, first]) {
    assert.equal((await gateway.call('DELETE', `${API}/requests/${id}`)).statusCode, 204)
  }
  await deleteButton(page, 'a bell').focus()
  await press(page, 'accept')
  await rowOf(page, 'a bell').waitFor({ state: 'detached' })
})
