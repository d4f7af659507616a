/** Earlier requests are found, played, counted and deleted in a real browser, with the real gateway. */

import assert from 'node:assert/strict'
import test, { before, type TestContext } from 'node:test'
import type { Browser, Dialog, Page } from 'playwright-core'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'
import {
  openWithKey,
  PAGE,
  startReachable,
  type PageGateway,
} from '../support/page/page-gateway.ts'
import { completeWithSound } from '../support/gateway/sounding.ts'
import { API, startGateway, type Gateway } from '../support/gateway/start-gateway.ts'
import { newCode } from '../support/gateway/page-session.ts'
import { onDisk } from '../support/gateway/stored.ts'
import { assertAccessible, nextInput, separate } from './playground.ts'

let browser: Browser
before(async (t) => {
  browser = await launchBrowser(t as TestContext)
})

const open = (t: TestContext, at: PageGateway) => openWithKey(t, browser, at)

const rows = (page: Page) => page.locator('.history .row')

const names = async (page: Page): Promise<string[]> =>
  page.locator('.history .row strong').allInnerTexts()

/** Waits for these rows, which arrive while the page is still searching. */
async function assertRows(page: Page, expected: readonly string[]): Promise<void> {
  await page.waitForFunction(
    (expected) =>
      expected.join() ===
      [...document.querySelectorAll('.history .row strong')].map((row) => row.textContent).join(),
    expected,
  )
  assert.deepEqual(await names(page), expected)
}

test('earlier requests are found by sound and file name, however far back', async (t) => {
  const reachable = await startReachable(t)
  const { gateway } = reachable
  const fileId = await gateway.uploadFile({ file_name: 'Old tape.m4a' })
  await gateway.submitted({ prompt: 'a Horn', file_id: fileId })
  for (let i = 1; i <= 24; i++) {
    gateway.clock.advance(1) // newer, and hardly ever of tomorrow
    await gateway.submitted({ prompt: `bell ${i}` })
  }
  const page = await open(t, reachable)
  await rows(page).nth(9).waitFor()
  assert.equal(await rows(page).count(), 10, 'a page of them')
  await page.getByRole('button', { name: 'Show more' }).click()
  await rows(page).nth(19).waitFor()

  const search = page.getByRole('searchbox', { name: 'Search by sound or file name' })
  await search.fill('horn')
  await assertRows(page, ['a Horn'])
  await search.fill('TAPE old')
  await assertRows(page, ['a Horn'])
  await search.fill('bell 2')
  await assertRows(page, [
    'bell 24',
    'bell 23',
    'bell 22',
    'bell 21',
    'bell 20',
    'bell 12',
    'bell 2',
  ])
  assert.match(await rows(page).first().innerText(), /today \d/)
  await assertAccessible(page, 'a search')
  await search.fill('gong')
  await page.getByText('None of 25 fits.').waitFor()
  await search.fill('')
  await rows(page).nth(9).waitFor()
})

test('a search stops at a thousand requests and goes on when asked', async (t) => {
  const reachable = await startReachable(t)
  const page = await open(t, reachable)
  await page.getByText('None. What you separate').waitFor() // so that no call is pending
  let calls = 0
  await page.route('**/v1/queue/requests?**', async (route) => {
    calls += 1
    const limit = Number(new URL(route.request().url()).searchParams.get('limit'))
    const data = Array.from({ length: limit }, (_, i) => ({
      request_id: `req_${calls}_${i}`,
      status: 'FAILED',
      created_at: '2026-01-02T03:04:05.000Z',
      prompt: 'a bell',
      file_name: 'tape.wav',
    }))
    await route.fulfill({ json: { object: 'list', data, next_cursor: 'more' } })
  })
  await page.reload()
  await rows(page).nth(9).waitFor()
  await page.getByRole('searchbox').fill('gong')
  await page.getByText('None of 1010 fits.').waitFor()
  assert.equal(calls, 11)
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByText('None of 2010 fits.').waitFor()
})

test('outputs play in the list, one at a time, and usage is counted by day', async (t) => {
  const reachable = await startReachable(t)
  await completeWithSound(reachable.gateway, { prompts: ['a bell', 'a horn'] })
  const page = await open(t, reachable)
  await page.getByRole('button', { name: 'Play a bell, a horn from concert.m4a' }).click()
  const untilPlaying = (expected: string) =>
    page.waitForFunction((expected) => {
      const players = [...document.querySelectorAll<HTMLAudioElement>('.history audio')]
      return players.map(({ paused }) => !paused).join() === expected
    }, expected)
  await untilPlaying('true,false,false')
  await assertAccessible(page, 'players in the list')
  await page.evaluate(() =>
    document.querySelectorAll<HTMLAudioElement>('.history audio')[2]!.play(),
  )
  await untilPlaying('false,false,true')
  await page.getByRole('button', { name: /^Stop a bell/ }).click()
  await untilPlaying('')

  await page.getByText('Usage by day').click()
  const day = page.getByRole('region', { name: 'Usage by day' }).getByRole('row').nth(1)
  assert.match(await day.innerText(), /\b1\t0\t4\b/)
  await assertAccessible(page, 'usage')
})

test('the source of an earlier request is separated again without an upload', async (t) => {
  const reachable = await startReachable(t)
  const id = await reachable.gateway.submitted({ prompt: 'a bell' })
  const page = await open(t, reachable)
  await page.getByRole('button', { name: 'Separate again: a bell from concert.m4a' }).click()
  await page.getByText('concert.m4a, the source of an earlier request').waitFor()
  await page.waitForFunction(
    () => document.activeElement?.getAttribute('aria-label') === 'Prompt 1',
  )
  await page.keyboard.type('a horn')
  await assertAccessible(page, 'an earlier source')
  const input = nextInput(page)
  await separate(page)
  const source = { request_id: id, output: 'source' }
  assert.deepEqual(await input, { prompt: 'a horn', ...source, preview: true })
  await page.getByRole('heading', { name: 'concert.m4a' }).waitFor()
})

test('the address of a shared result plays it without a key until it is revoked', async (t) => {
  const reachable = await startReachable(t)
  const { gateway, url } = reachable
  const id = await completeWithSound(gateway, { prompts: ['a bell', 'a horn'] })
  const code = await newCode(gateway)
  const page = await openPage(t, browser, `${url}/#code=${code}&request=${id}`)
  await page.getByText('Share', { exact: true }).click()
  await page.getByRole('combobox', { name: /^For/ }).selectOption('an hour')
  await page.getByRole('button', { name: 'Make an address' }).click()
  const address = await page.getByLabel('Address, shown only now').inputValue()
  assert.match(address, /\/#share=shr_\w{64}$/)
  await page.getByText('An address works until').waitFor()
  await assertAccessible(page, 'an address to share')

  const other = await openPage(t, browser, 'about:blank')
  const calls: string[] = []
  other.on('request', (request) => {
    if (/\/v1\/|playground\/session/.test(request.url())) calls.push(request.url())
  })
  await other.goto(address)
  await other.getByRole('heading', { name: 'concert.m4a' }).waitFor()
  await other.getByRole('button', { name: 'Play', exact: true }).click()
  await other.getByRole('button', { name: 'Pause', exact: true }).waitFor()
  for (const lane of ['Mixture', 'a bell', 'a horn', 'The rest']) {
    await other.getByRole('region', { name: lane, exact: true }).waitFor()
  }
  assert.equal(await other.getByRole('button', { name: /^Separate/ }).count(), 0)
  await other.getByRole('link', { name: 'Download a horn as WAV' }).waitFor()
  await assertAccessible(other, 'a shared result')
  assert.deepEqual(calls, [`${url}/v1/shared`], 'and nothing of the account')

  await page.getByRole('button', { name: /^Revoke the address/ }).click()
  await page.getByRole('button', { name: /^Really Revoke/ }).click()
  await page.getByText('An address works until').waitFor({ state: 'detached' })
  await other.reload()
  await other.getByRole('alert').getByText('was revoked').waitFor()
  await assertAccessible(other, 'a result that is not shared any more')
  await page.getByRole('button', { name: 'Admins' }).click()
  await page.getByText('runs without ADMIN_TOKEN').waitFor()
})

test('views have addresses, to which sign-in, Back and Forward lead', async (t) => {
  const reachable = await startReachable(t)
  const { gateway, url } = reachable
  const fileId = await gateway.uploadFile({ file_name: 'tape.m4a' })
  const id = await gateway.submitted({ prompt: 'a bell', file_id: fileId })
  const page = await openPage(t, browser, `${url}/#request=${id}`)
  await enterKey(page, gateway.key)
  const request = page.getByRole('heading', { name: 'tape.m4a' })
  const form = page.getByRole('heading', { name: 'What do you want to take out?' })
  await request.waitFor()
  const title = (text: string) => page.waitForFunction((text) => document.title === text, text)
  await title('in the queue · tape.m4a')
  await page.getByRole('button', { name: 'New separation' }).click()
  await form.waitFor()
  await title('Winnow')
  await page.goBack()
  await request.waitFor()
  await page.goForward()
  await form.waitFor()
  await page.getByRole('button', { name: 'Admins' }).click()
  await page.getByRole('heading', { name: 'Admins' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Admins' }).waitFor()
  await page.goBack()
  await form.waitFor()
  await page.goBack()
  await request.waitFor()
  await page.goto(`${url}/#request=req_of_nobody`) // as if typed into the address bar of the open page
  await page.getByText('There is no request req_of_nobody any more.').waitFor()
  assert.equal(new URL(page.url()).hash, '')
  await page.goBack()
  await request.waitFor()
})

test('a user who asked for it is notified that a request has ended', async (t) => {
  const reachable = await startReachable(t)
  const { gateway, url } = reachable
  const id = await gateway.submitted({ prompt: 'a bell' })
  const page = await open(t, reachable)
  await page.addInitScript(`
    window.shown = []
    window.Notification = class {
      static permission = 'default'
      static requestPermission = async () => 'granted'
      constructor(title) { window.shown.push(title) }
    }`)
  await page.goto(`${url}/#request=${id}`)
  await page.reload()
  const button = page.getByRole('button', { name: 'Tell me when it is done' })
  await button.click()
  await button.waitFor({ state: 'hidden' })
  await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true }))
  await gateway.event('started', id)
  await gateway.event('failed', id)
  await page.waitForFunction(() => 'shown' in window && String(window.shown) !== '')
  const shown = await page.evaluate(() => (window as unknown as { shown: string[] }).shown)
  assert.deepEqual(shown, ['failed · concert.m4a'])
})

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

test('earlier requests are deleted with the keyboard, after a question that names what is lost', async (t) => {
  const gateway = await startGateway(t, { config: { playgroundFolder: PAGE } })
  await gateway.complete(await gateway.submitted({ prompts: ['a bell', 'a horn'] }))
  await gateway.submitted({ prompt: 'a waiting one' })
  const page = await open(t, { gateway, url: await gateway.listen() })
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
  await page.waitForFunction(() => document.activeElement?.id === 'history')

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
  const first = await gateway.submitted({ prompt: 'a bell' })
  await gateway.complete(first)
  const input = { prompt: 'a gong', request_id: first, output: 'residual' }
  const chained = await gateway.call('POST', `${API}/audio/separate`, { body: { input } })
  const page = await open(t, { gateway, url: await gateway.listen() })
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
