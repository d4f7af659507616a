/** Shows media past its time in the page: the real gateway, on a clock of the test. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { createPass } from '../../gateway/accounts/admin-pass.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { DAY_MS, MINUTE_MS } from '../../shared/durations.ts'
import {
  complete,
  startGateway,
  submitted,
  type Gateway,
} from '../support/gateway/start-gateway.ts'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'
import { assertAccessible } from './playground.ts'

const PAGE = fileURLToPath(new URL('../../.runtime/web', import.meta.url))

const ADMIN_TOKEN = 'the-admin-token-of-this-test'

async function start(t: TestContext) {
  const browser = await launchBrowser(t)
  const gateway = await startGateway(t, {
    config: { playgroundFolder: PAGE, adminToken: ADMIN_TOKEN },
  })
  return { browser, gateway, url: await gateway.listen() }
}

/** Time passes for the gateway, which deletes what is due, and for the page, which is loaded again. */
async function pass(gateway: Gateway, page: Page, ms: number): Promise<void> {
  gateway.clock.advance(ms)
  await sweep(gateway.deps)
  await page.clock.setFixedTime(gateway.clock.now())
  await page.reload()
}

test('of an earlier request the page says that its outputs are deleted', async (t) => {
  const { browser, gateway, url } = await start(t)
  const requestId = await submitted(gateway, { prompt: 'a bell' })
  await complete(gateway, requestId)
  const page = await openPage(t, browser, url)
  await enterKey(page, gateway.key)
  const row = page.getByRole('listitem').filter({ hasText: 'a bell' })
  await pass(gateway, page, 7 * DAY_MS - 1)
  await row.getByText('completed').waitFor()

  await pass(gateway, page, 1)
  await row.getByText('outputs deleted').waitFor()
  assert.equal(await row.getByText('completed').count(), 0)
  await assertAccessible(page, 'a history of what is deleted')
  await row.getByRole('button').first().click()
  await page
    .getByRole('alert')
    .getByText(/^The result has expired: its outputs were kept/)
    .waitFor()
  assert.equal(await page.getByRole('button', { name: /Play|Download|Null test/ }).count(), 0)
  await assertAccessible(page, 'a request whose outputs are deleted')

  await pass(gateway, page, 23 * DAY_MS) // the address names the request, which is deleted now
  await page.getByText(`There is no request ${requestId} any more.`).waitFor()
  await page.getByText('None. What you separate is listed here.').waitFor()
})

test('a request that is deleted while its list is open gets its message', async (t) => {
  const { browser, gateway, url } = await start(t)
  await complete(gateway, await submitted(gateway, { prompt: 'a bell' }))
  const page = await openPage(t, browser, url)
  await enterKey(page, gateway.key)
  const row = page.getByRole('listitem').filter({ hasText: 'a bell' })
  await row.waitFor()
  gateway.clock.advance(30 * DAY_MS)
  await sweep(gateway.deps)
  await row.getByRole('button').first().click()
  await page.getByRole('alert').getByText('There is no request with this id.').waitFor()
})

test('a code of an address that is ten minutes old gets its message, and a key is asked for', async (t) => {
  const { browser, gateway, url } = await start(t)
  const headers = { authorization: `Bearer ${gateway.key}` }
  const made = await fetch(`${url}/playground/codes`, { method: 'POST', headers })
  const { code } = (await made.json()) as { code: string }
  gateway.clock.advance(10 * MINUTE_MS)
  const page = await openPage(t, browser, `${url}/#code=${code}`)
  await page
    .getByRole('alert')
    .getByText(/^The code is unknown, used or older than ten min/)
    .waitFor()
  await assertAccessible(page, 'a code that is too old')
  await enterKey(page, gateway.key)
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
})

test('an expired code of an admin names the command that makes another', async (t) => {
  const { browser, gateway, url } = await start(t)
  const { token: code } = createPass(ADMIN_TOKEN, 'code', gateway.clock.now())
  gateway.clock.advance(10 * MINUTE_MS)
  const page = await openPage(t, browser, `${url}/#operator=${code}`)
  const said = 'This sign-in code has expired: `winnow open --operators` makes another.'
  await page.getByRole('alert').getByText(said).waitFor()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('Nothing runs or waits.').waitFor()
})
