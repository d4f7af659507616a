/** The page at `/` as admins use it, in a real browser with the real service. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, type TestContext } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { launchBrowser, openPage } from '../support/page/browser.ts'
import { OIDC_CLIENT, startOidcProvider } from '../support/http/oidc-provider.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { ADMIN_TOKEN } from '../support/gateway/admin.ts'
import { assertAccessible } from './playground.ts'
import { createClient } from '../../clients/typescript/node.ts'
import { examplePath } from '../support/media/examples.ts'
import {
  API_KEY,
  separateFile,
  startWinnow,
  submitFile,
  type Winnow,
} from '../support/processes/start-winnow.ts'

const SHOWN_ONLY_NOW = 'The key, shown only now'

let browser: Browser
let winnow: Winnow
before(async (t) => {
  const context = t as TestContext
  browser = await launchBrowser(context)
  const env = { ADMIN_TOKEN, EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }
  winnow = await startWinnow(context, { env })
})

const lastWord = async (shown: Locator): Promise<string> =>
  (await shown.textContent())!.split(' ').at(-1)!

/** A form acts when it is sent for the second time. */
async function sendTwice(form: Locator, action: string): Promise<void> {
  await form.getByRole('button', { name: action, exact: true }).click()
  await form.getByRole('button', { name: `Really ${action.toLowerCase()}?` }).click()
}

const region = (page: Page, name: string): Locator => page.getByRole('region', { name })

const rowOf = (page: Page, table: string, hasText: string): Locator =>
  region(page, table).getByRole('row').filter({ hasText })

/** Goes to a section of the view by its tab. */
const open = (page: Page, section: string): Promise<void> =>
  page
    .getByRole('navigation', { name: 'Sections' })
    .getByRole('link', { name: section, exact: true })
    .click()

/** @param failedId the request that has failed */
async function showsTheService(page: Page, failedId: string): Promise<void> {
  await page.getByRole('button', { name: 'Admins' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill('a-wrong-token')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('The admin token is missing or invalid').waitFor()
  await assertAccessible(page, 'a wrong token')
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('Nothing runs or waits.').waitFor()
  // this is the gateway's first count: it counts again half a minute later
  const chart = (name: RegExp) => page.getByRole('img', { name }).waitFor()
  await chart(/^Requests ended: at most 1 an hour, at /)
  await chart(/^Failures: at most 1 an hour, at /)
  await chart(/^Media separated: none$/)
  await page.getByRole('link', { name: 'Failed' }).click()
  const failed = rowOf(page, 'Requests', failedId)
  await failed.getByText('INVALID_MEDIA').waitFor()
  await failed.getByRole('link', { name: 'Default' }).click()
  await rowOf(page, 'Accounts', 'default').waitFor()
  assert.match(page.url(), /#\/admin\/accounts\?account=default$/)
  await page.goBack()
  await failed.waitFor()
  await page.goBack()
  await page.getByText('Nothing runs or waits.').waitFor()
  await open(page, 'Engines')
  const engine = rowOf(page, 'Engines', 'mini')
  assert.match(
    (await engine.innerText()).replace(/\s+/g, ' '),
    /ready .*mini.* 0 of \d+ .* 0 s Drain$/,
  )
  await showsFailedWebhooks(page, failedId)
  for (const section of ['Audit', 'Storage', 'Work']) {
    await open(page, section)
    await page.getByRole('region').first().waitFor()
    await assertAccessible(page, section)
  }
}

/** Makes an endpoint that is disabled, so the webhooks for it fail. */
async function makeDisabledEndpoint(): Promise<void> {
  const send = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const address = `${winnow.url}/v1/webhook-endpoints${path}`
    const reply = await fetch(address, { method, headers, body: JSON.stringify(body) })
    assert.ok(reply.ok, await reply.clone().text())
    return (await reply.json()) as { endpoint_id: string }
  }
  const { endpoint_id: id } = await send('POST', '', { url: 'https://127.0.0.1:9/hook' })
  await send('PATCH', `/${id}`, { enabled: false })
}

/** @param requestId the request whose webhook has failed */
async function showsFailedWebhooks(page: Page, requestId: string): Promise<void> {
  await open(page, 'Deliveries')
  const states = page.getByRole('navigation', { name: 'State of webhooks' })
  const row = rowOf(page, 'Webhooks', requestId)
  await row.getByText('disabled').waitFor()
  await states.getByRole('link', { name: 'Waiting' }).click()
  await region(page, 'Webhooks').getByText('There is none.').waitFor()
  await states.getByRole('link', { name: 'Failed' }).click()
  await row.getByText('127.0.0.1').waitFor()
  assert.match(page.url(), /#\/admin\/deliveries\?state=failed$/)
  assert.equal(await row.getByRole('button').count(), 0, 'its account replays it')
  await assertAccessible(page, 'Deliveries')
}

interface NewAccount {
  name: string
  isMetered: boolean
  /** The shown balance. */
  balance: string
}

/** @returns the id of the account */
async function createsAccount(page: Page, account: NewAccount): Promise<string> {
  const { name, isMetered, balance } = account
  const creation = page.getByRole('form', { name: 'Create an account' })
  await region(page, 'Accounts').waitFor()
  const rows = await region(page, 'Accounts').getByRole('row').count()
  await creation.getByLabel('Name of the account').fill('Another name')
  await creation.getByLabel('Separating costs credits').setChecked(isMetered)
  await creation.getByRole('button', { name: 'Create an account', exact: true }).click()
  await creation.getByLabel('Name of the account').fill(name)
  assert.equal(await region(page, 'Accounts').getByRole('row').count(), rows, 'the first press')
  await sendTwice(creation, 'Create an account')
  const id = (await lastWord(creation.getByText('The account is'))).replace(/\.$/, '')
  await rowOf(page, 'Accounts', id).filter({ hasText: name }).getByText(balance).first().waitFor()
  return id
}

async function creditsAccount(page: Page, accountId: string): Promise<void> {
  const credit = page.getByRole('form', { name: 'Credit' })
  const add = async (seconds: string) => {
    await credit.getByLabel('Account').selectOption(accountId)
    await credit.getByLabel('Seconds').fill(seconds)
    await sendTwice(credit, 'Credit')
  }
  await add('90')
  await credit.getByText('The balance is 90 s.').waitFor()
  await rowOf(page, 'Accounts', accountId).getByText('90 s, 0 s reserved').waitFor()
  await add('-91')
  await credit.getByText("Of the account's 90 s, 90 s can be taken back.").waitFor()
  assert.equal(await credit.getByRole('status').textContent(), '', 'nothing is said to be done')
  await add('-30')
  await credit.getByText('The balance is 60 s.').waitFor()
}

/** Limits that are left empty are as the settings say. */
async function limitsAccount(page: Page, accountId: string): Promise<void> {
  await page.getByRole('link', { name: 'limits of Metered' }).click()
  const form = page.getByRole('form', { name: 'Set the limits' })
  await form.getByLabel('media bytes').fill('50000000')
  await form.getByLabel('streams').fill('4')
  await form.getByLabel('priority').selectOption('batch')
  await sendTwice(form, 'Set the limits')
  await form.getByText('The limits are set.').waitFor()
  await page.reload()
  await form.getByLabel('media bytes').waitFor()
  assert.equal(await form.getByLabel('media bytes').inputValue(), '50000000')
  assert.equal(await form.getByLabel('file bytes').inputValue(), '')
  assert.equal(await form.getByLabel('priority').inputValue(), 'batch')
  await form.getByLabel('streams').fill('')
  await sendTwice(form, 'Set the limits')
  await form.getByText('The limits are set.').waitFor()
  assert.equal(await form.getByLabel('priority').inputValue(), 'batch', 'it keeps its class')
  await form.getByLabel('priority').selectOption('')
  await sendTwice(form, 'Set the limits')
  await assertAccessible(page, 'limits of an account')
  await open(page, 'Storage')
  await rowOf(page, 'Storage by account', 'Metered').getByText('50.0 MB').waitFor()
  await open(page, 'Accounts')
  await rowOf(page, 'Accounts', accountId).waitFor()
}

/** A key does what the page does, for the account that was chosen, which pays for it. */
async function separatesWithKey(page: Page, key: string): Promise<void> {
  const client = createClient({ baseUrl: winnow.url, apiKey: key })
  const path = examplePath('speech-over-piano.wav')
  await client.wait(await submitFile({ ...winnow, client }, path, { prompt: 'piano' }))
  await open(page, 'Accounts')
  await rowOf(page, 'Accounts', 'Metered').getByText('54 s, 0 s reserved').waitFor()
  await open(page, 'Engines')
  await region(page, 'Engines').getByRole('cell', { name: '6 s', exact: true }).waitFor()
  await open(page, 'Keys')
}

/**
 * A key is created, gets another secret, and is revoked, as the service then shows.
 * @returns what the page has shown only once
 */
async function changesKeys(page: Page, accountId: string): Promise<string[]> {
  await open(page, 'Keys')
  const creation = page.getByRole('form', { name: 'Create a key' })
  await creation.getByLabel(/^Account/).selectOption(accountId)
  await creation.getByLabel('Name').fill('for a test')
  await creation.getByLabel('Priority').selectOption('batch')
  await sendTwice(creation, 'Create a key')
  const key = await lastWord(creation.getByText(SHOWN_ONLY_NOW))
  const status = async (key: string) =>
    (await fetch(`${winnow.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
  assert.equal(await status(key), 200)
  const { priority } = await createClient({ baseUrl: winnow.url, apiKey: key }).account()
  assert.equal(priority, 'batch')
  await separatesWithKey(page, key)
  const row = page.getByRole('row').filter({ hasText: 'for a test' })
  await row.getByText('models:read files:read files:write audio:separate').waitFor()
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
  return [key, rotated]
}

/** By keys alone: the greatest first, then the least. */
async function sortsAccounts(page: Page): Promise<void> {
  const head = region(page, 'Accounts').getByRole('columnheader', { name: 'account' })
  const names = () => region(page, 'Accounts').locator('tbody strong').allTextContents()
  const sorted = ['Default', 'Free', 'Metered', 'Poor']
  for (const [order, wanted] of [
    ['ascending', sorted],
    ['descending', sorted.toReversed()],
  ] as const) {
    await head.getByRole('button').focus()
    await page.keyboard.press('Enter')
    assert.equal(await head.getAttribute('aria-sort'), order)
    assert.deepEqual(await names(), wanted)
  }
}

test('admins see engines, queue and failures, and change accounts and keys', async (t) => {
  await makeDisabledEndpoint()
  const path = join(winnow.folder, 'no-sound.wav')
  await writeFile(path, 'this is no sound')
  const failed = await separateFile(winnow, path, { prompt: 'piano' })
  const page = await openPage(t, browser, winnow.url)
  await showsTheService(page, failed.submitted.request_id)
  await open(page, 'Accounts')
  await createsAccount(page, { name: 'Free', isMetered: false, balance: '–' })
  const metered = { isMetered: true, balance: '0 s, 0 s reserved' }
  const poorId = await createsAccount(page, { name: 'Poor', ...metered })
  const accountId = await createsAccount(page, { name: 'Metered', ...metered })
  await creditsAccount(page, accountId)
  await limitsAccount(page, accountId)
  const secrets = await changesKeys(page, accountId)
  await assertAccessible(page, 'keys')
  await open(page, 'Accounts')
  await rowOf(page, 'Accounts', poorId).getByText('0 s, 0 s reserved', { exact: true }).waitFor()
  await assertAccessible(page, 'the view of admins')
  await page.reload()
  await region(page, 'Accounts').waitFor() // the tab keeps the token, and it alone
  await sortsAccounts(page)
  await open(page, 'Models')
  await rowOf(page, 'Models', 'mini').getByText('everyday sounds').waitFor()
  await open(page, 'Engines')
  const engine = region(page, 'Engines').locator('tbody tr')
  await engine.getByText('READY').waitFor()
  await engine.getByRole('button', { name: /^Drain/ }).click()
  await engine.getByRole('button', { name: /^Really Drain/ }).click()
  await engine.getByText('DRAINING').waitFor()
  await engine.getByRole('button').waitFor({ state: 'detached' })
  await assertAccessible(page, 'a drained engine')
  await open(page, 'Storage')
  await page.getByText(/^Media lies in the folder .+\. It grows by .+ a day, and /).waitFor()
  for (const secret of secrets) assert.ok(!(await page.content()).includes(secret), 'a key again')
  const kept = await page.evaluate(() => [{ ...sessionStorage }, localStorage.length])
  assert.deepEqual(kept, [{ 'winnow-admin-token': ADMIN_TOKEN }, 0])
  await page.getByRole('button', { name: 'Forget the token' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  await page.getByRole('button', { name: 'Playground' }).click()
  await page.getByLabel('API key').waitFor()
})

test('admins see what waits and cancel it, and are told when their gateway is gone', async (t) => {
  await winnow.engines[0]!.end('SIGTERM') // it is drained already
  const path = examplePath('speech-over-piano.wav')
  const { request_id: canceled } = await submitFile(winnow, path, { prompt: 'piano' })
  await submitFile(winnow, path, { prompt: 'speech' })
  const page = await openPage(t, browser, `${winnow.url}/#/admin/work`)
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await rowOf(page, 'Requests', 'speech-over-piano.wav').nth(1).waitFor()
  const row = rowOf(page, 'Requests', canceled)
  await row.getByText('in queue').waitFor()
  await row.getByRole('button', { name: `Cancel ${canceled}` }).click()
  await row.getByRole('button', { name: `Really Cancel ${canceled}` }).click()
  await row.waitFor({ state: 'detached' })
  await open(page, 'Audit')
  await rowOf(page, 'Changes', canceled).getByRole('link', { name: 'request.cancel' }).click()
  await page.getByText('Only request.cancel.').waitFor()
  await page.goBack()
  await page.goBack()
  await rowOf(page, 'Requests', 'speech').waitFor()
  await winnow.gateway.end('SIGKILL')
  const gone = page.getByRole('alert').filter({ hasText: /fetch/i })
  await gone.first().waitFor() // the view says so, and then its list as well
})

/** On the provider's pages: any password does. */
async function signInAs(page: Page, login: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Test Provider' }).click()
  await page.getByPlaceholder('Enter any login').fill(login)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('admins sign in by name, see what their role may do, and are named in the audit', async (t) => {
  const [port] = await freePorts(1) // an address for admins alone
  const redirectUri = `http://127.0.0.1:${port}/admin/sign-in/callback`
  const users = {
    vera: { groups: 'viewers', email: 'vera@example.com', email_verified: true },
    olga: { groups: 'owners', email: 'olga@example.com', email_verified: true },
  }
  const { issuer } = await startOidcProvider(t, { redirectUri, users })
  const env = {
    ADMIN_TOKEN,
    ADMIN_PORT: String(port),
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: OIDC_CLIENT.id,
    OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
    OIDC_PROVIDER_NAME: 'Test Provider',
    OIDC_ROLE_CLAIM: 'groups',
    OIDC_OWNERS: 'owners',
    OIDC_VIEWERS: 'viewers',
  }
  const { url, gateway } = await startWinnow(t, { engines: 0, env })
  const clients = await openPage(t, browser, `${url}/#/admin/accounts`)
  await clients.getByText('There is no view of admins at this address').waitFor()
  await clients.getByRole('button', { name: 'Playground' }).click()
  await clients.getByLabel('API key').waitFor()
  assert.equal(await clients.getByRole('button', { name: 'Admins' }).count(), 0)

  const address = `${gateway.ready.admin}/`
  const page = await openPage(t, browser, address)
  await signInAs(page, 'gregor')
  await page
    .getByText('Test Provider has signed you in, but your claim "groups" is missing')
    .waitFor()
  await assertAccessible(page, 'without a role')

  const viewing = await openPage(t, browser, address)
  await signInAs(viewing, 'vera')
  await viewing.getByText('vera@example.com, viewer').waitFor()
  assert.equal(await viewing.getByRole('button', { name: 'Playground' }).count(), 0)
  assert.equal(new URL(viewing.url()).hash, '#/admin/work')
  await open(viewing, 'Accounts')
  await rowOf(viewing, 'Accounts', 'default').waitFor()
  assert.equal(await viewing.getByRole('form').count(), 0)
  await open(viewing, 'Keys')
  await region(viewing, 'Keys').waitFor()
  assert.equal(await viewing.getByRole('button', { name: 'Revoke' }).count(), 0)
  await viewing.reload()
  await viewing.getByText('vera@example.com, viewer').waitFor()
  await viewing.getByRole('button', { name: 'Sign out' }).click()
  await viewing.getByRole('link', { name: 'Sign in with Test Provider' }).waitFor()

  const owning = await openPage(t, browser, address)
  await signInAs(owning, 'olga')
  await open(owning, 'Accounts')
  await createsAccount(owning, { name: 'Studio', isMetered: false, balance: '–' })
  await open(owning, 'Audit')
  await rowOf(owning, 'Changes', 'account.create').getByText('olga@example.com').waitFor()
  await assertAccessible(owning, 'the audit with names')
})
