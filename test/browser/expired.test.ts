/** Shows media past its time on the page: the real gateway, on a fake clock. */

import assert from 'node:assert/strict'
import test, { before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { createPass } from '../../gateway/accounts/admin-pass.ts'
import { sweep } from '../../gateway/files/sweeper.ts'
import { DAY_MS, MINUTE_MS } from '../../shared/durations.ts'
import { startGateway, type Gateway } from '../support/gateway/start-gateway.ts'
import { newCode } from '../support/gateway/page-session.ts'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'
import { ADMIN_TOKEN } from '../support/gateway/admin.ts'
import { assertAccessible } from './playground.ts'

const PAGE = fileURLToPath(new URL('../../.runtime/web', import.meta.url))

let browser: Browser
before(async (t) => {
  browser = await launchBrowser(t as TestContext)
})

async function start(t: TestContext) {
  const gateway = await startGateway(t, {
    config: { playgroundFolder: PAGE, adminToken: ADMIN_TOKEN },
  })
  return { gateway, url: await gateway.listen() }
}

/** Lets time pass: the gateway deletes what is due, and the page is reloaded. */
async function passTime(gateway: Gateway, page: Page, ms: number): Promise<void> {
  gateway.clock.advance(ms)
  await sweep(gateway.deps)
  await page.clock.setFixedTime(gateway.clock.now())
  await page.reload()
}

test('the page says that the outputs of an earlier request are deleted', async (t) => {
  const { gateway, url } = await start(t)
  const requestId = await gateway.submitted({ prompt: 'a bell' })
  await gateway.complete(requestId)
  const page = await openPage(t, browser, url)
  await enterKey(page, gateway.key)
  await page.getByRole('button', { name: 'Sign out' }).waitFor() // a reload keeps the key
  const row = page.getByRole('listitem').filter({ hasText: 'a bell' })
  await passTime(gateway, page, 7 * DAY_MS - 1)
  await row.getByText('completed').waitFor()

  await passTime(gateway, page, 1)
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

  await passTime(gateway, page, 23 * DAY_MS) // the address names the request, which is deleted by now
  await page.getByText(`There is no request ${requestId} any more.`).waitFor()
  await page.getByText('None. What you separate is listed here.').waitFor()
})

test('a request deleted while the list is open shows a message', async (t) => {
  const { gateway, url } = await start(t)
  await gateway.complete(await gateway.submitted({ prompt: 'a bell' }))
  const page = await openPage(t, browser, url)
  await enterKey(page, gateway.key)
  const row = page.getByRole('listitem').filter({ hasText: 'a bell' })
  await row.waitFor()
  gateway.clock.advance(30 * DAY_MS)
  await sweep(gateway.deps)
  await row.getByRole('button').first().click()
  await page.getByRole('alert').getByText('There is no request with this id.').waitFor()
})

test('a sign-in code older than ten minutes shows a message, and the page asks for a key', async (t) => {
  const { gateway, url } = await start(t)
  const code = await newCode(gateway)
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

test('the message for an expired code of an admin names the command that makes another', async (t) => {
  const { gateway, url } = await start(t)
  const { token: code } = createPass(ADMIN_TOKEN, 'code', gateway.clock.now())
  gateway.clock.advance(10 * MINUTE_MS)
  const page = await openPage(t, browser, `${url}/#admin=${code}`)
  const said = 'This sign-in code has expired: `winnow open --admin` makes another.'
  await page.getByRole('alert').getByText(said).waitFor()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('Nothing runs or waits.').waitFor()
})
