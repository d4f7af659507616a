/** The page at `/` as operators use it, in a real browser with the real service. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { launchBrowser, openPage } from './browser.ts'
import { assertAccessible, post } from './playground.ts'
import { separateFile, startWinnow } from '../support/start-winnow.ts'

const ADMIN_TOKEN = 'the-admin-token-of-this-test'
const SHOWN_ONLY_NOW = 'The key, shown only now'

const lastWord = async (shown: Locator): Promise<string> =>
  (await shown.textContent())!.split(' ').at(-1)!

/** A form acts when it is sent for the second time. */
async function sendTwice(form: Locator, action: string): Promise<void> {
  await form.getByRole('button', { name: action, exact: true }).click()
  await form.getByRole('button', { name: `Really ${action.toLowerCase()}?` }).click()
}

async function showsTheService(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Operators' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill('a-wrong-token')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('The admin token is missing or invalid.').waitFor()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('region', { name: 'Engines' }).getByText('mini').first().waitFor()
  await page.getByRole('region', { name: 'Last failures' }).getByText('INVALID_MEDIA').waitFor()
  await page.getByText('0 waiting; 0 in progress; 0 webhooks due.').waitFor()
}

/** @returns the id of an account that pays */
async function createsAccount(page: Page): Promise<string> {
  const creation = page.getByRole('form', { name: 'Create an account' })
  await creation.getByLabel('Name of the account').fill('Metered')
  await creation.getByLabel('Separating costs credits').check()
  await creation.getByRole('button', { name: 'Create an account', exact: true }).click()
  await creation.getByLabel('Name of the account').fill('Metered too')
  const accounts = page.getByRole('region', { name: 'Accounts' })
  assert.equal(await accounts.getByRole('row').count(), 2, 'nothing is created at the first press')
  await sendTwice(creation, 'Create an account')
  const id = (await lastWord(creation.getByText('The account is'))).replace(/\.$/, '')
  const row = accounts.getByRole('row').filter({ hasText: id })
  assert.match((await row.textContent())!, /Metered too0 s, 0 s reserved/)
  return id
}

async function creditsAccount(page: Page, accountId: string): Promise<void> {
  const credit = page.getByRole('form', { name: 'Credit' })
  await credit.getByLabel('Account').selectOption(accountId)
  await credit.getByLabel('Seconds').fill('90')
  await sendTwice(credit, 'Credit')
  await credit.getByText('The balance is 90 s.').waitFor()
  await page.getByRole('region', { name: 'Accounts' }).getByText('90 s, 0 s reserved').waitFor()
}

/** A key is created, gets another secret, and is revoked, as the service then shows. */
async function changesKeys(page: Page, url: string, accountId: string): Promise<void> {
  const creation = page.getByRole('form', { name: 'Create a key' })
  await creation.getByLabel('Account').selectOption(accountId)
  await creation.getByLabel('Name').fill('for a test')
  await sendTwice(creation, 'Create a key')
  const key = await lastWord(creation.getByText(SHOWN_ONLY_NOW))
  const status = async (key: string) =>
    (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
  assert.equal(await status(key), 200)
  const row = page.getByRole('row').filter({ hasText: 'for a test' })
  await row.getByRole('button', { name: /^Rotate/ }).click()
  assert.equal(await status(key), 200, 'nothing changes at the first press')
  await row.getByRole('button', { name: /^Really Rotate/ }).click()
  const rotated = await lastWord(row.getByText(SHOWN_ONLY_NOW))
  assert.notEqual(rotated, key)
  assert.deepEqual([await status(key), await status(rotated)], [401, 200])
  await row.getByRole('button', { name: /^Revoke/ }).click()
  await row.getByRole('button', { name: /^Really Revoke/ }).click()
  await row.getByText('revoked').waitFor()
  assert.equal(await status(rotated), 401)
}

test('operators see engines, queue and failures, and change accounts and keys', async (t) => {
  const browser = await launchBrowser(t)
  const winnow = await startWinnow(t, { env: { ADMIN_TOKEN } })
  const path = join(winnow.folder, 'no-sound.wav')
  await writeFile(path, 'this is no sound')
  await separateFile(winnow, path, { prompt: 'piano' })
  const page = await openPage(t, browser, winnow.url)
  await showsTheService(page)
  const accountId = await createsAccount(page)
  await creditsAccount(page, accountId)
  await changesKeys(page, winnow.url, accountId)
  await assertAccessible(page, 'the operators view')
  await page.reload()
  await page.getByRole('button', { name: 'Operators' }).click()
  await page.getByRole('region', { name: 'Engines' }).waitFor() // the tab keeps the token
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.getItem('winnow-admin-token')), null)
  await page.getByRole('button', { name: 'Playground' }).click()
  await page.getByLabel('API key').waitFor()
})

test('an operator whose gateway is gone is told so', async (t) => {
  const browser = await launchBrowser(t)
  const winnow = await startWinnow(t, { engines: 0, env: { ADMIN_TOKEN } })
  await post(winnow, '/admin/accounts', ADMIN_TOKEN, { name: 'Another' })
  const page = await openPage(t, browser, winnow.url)
  await page.getByRole('button', { name: 'Operators' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('region', { name: 'Accounts' }).getByText('Another').waitFor()
  await winnow.gateway.end('SIGKILL')
  await page.getByRole('alert').filter({ hasText: /fetch/i }).waitFor()
})
