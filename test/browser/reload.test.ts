/**
 * The page is reloaded between a submit and its answer, or the service goes down and comes back, in a
 * real browser with the real service.
 */

import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, describe, type TestContext } from 'node:test'
import type { Browser, Dialog, Page } from 'playwright-core'
import { launchBrowser } from '../support/page/browser.ts'
import {
  chooseLongFile,
  waitForPlayer,
  separate,
  signedIn,
  type Cases,
  type Place,
} from './playground.ts'
import { examplePath } from '../support/media/examples.ts'
import { startWinnow, type Winnow } from '../support/processes/start-winnow.ts'

/** A slow machine may take this long to separate the long file. */
const LONG_FILE_MS_MAX = 300_000

/** The fate of a submit whose answer the page does not get. */
type Arrival = 'arrives' | 'is lost'

/**
 * Submits the files, and resolves when every submit is waiting for an answer that never comes.
 * @returns a function that reloads the page, accepts the browser's dialog, and from then on lets
 *   submits be answered
 */
async function submitUnanswered(
  { winnow }: Place,
  page: Page,
  names: readonly string[],
  arrival: Arrival,
): Promise<() => Promise<void>> {
  const paths = names.map((name) => join(winnow.folder, name))
  for (const path of paths) await copyFile(examplePath('siren-and-speech.wav'), path)
  await page.getByLabel('Choose files').setInputFiles(paths)
  await page.getByLabel('Prompt 1').fill('siren')
  let waiting = 0
  let isAnswered = false
  const allWait = new Promise<void>((resolve) => {
    void page.route('**/audio/separate', async (route) => {
      if (isAnswered) return route.continue()
      if (arrival === 'arrives') await route.fetch()
      waiting += 1
      if (waiting === names.length) resolve()
    })
  })
  await separate(page)
  await allWait
  return async () => {
    isAnswered = true
    const accept = (dialog: Dialog) => void dialog.accept()
    page.on('dialog', accept)
    await page.reload()
    page.off('dialog', accept)
  }
}

/** Returns how the requests of the files ended, or their current status. */
async function outcomes({ winnow }: Place, names: readonly string[]): Promise<string[]> {
  const { data } = await winnow.client.list({ limit: 100 })
  const ofFiles = data.filter(({ file_name: name }) => names.includes(name))
  return ofFiles.map(({ status, error }) => error?.code ?? status)
}

const rememberedSubmit = (page: Page) =>
  page.evaluate(() => sessionStorage.getItem('winnow-submit'))

async function oneFile(place: Place, arrival: Arrival): Promise<void> {
  const page = await signedIn(place)
  const names = [`one that ${arrival}.wav`]
  const reload = await submitUnanswered(place, page, names, arrival)
  await reload()
  await waitForPlayer(page)
  await page.getByRole('heading', { name: names[0]! }).waitFor()
  await page.getByRole('button', { name: 'Solo siren' }).waitFor()
  assert.deepEqual(await outcomes(place, names), ['COMPLETED'], 'it is one request')
  assert.equal(await rememberedSubmit(page), null)
}

async function severalFiles(place: Place, arrival: Arrival): Promise<void> {
  const page = await signedIn(place)
  const names = ['first', 'second'].map((name) => `${name} that ${arrival}.wav`)
  const reload = await submitUnanswered(place, page, names, arrival)
  await reload()
  const list = page.getByRole('region', { name: 'Files' })
  await list.getByRole('status').getByText('2 of 2 separated', { exact: true }).waitFor()
  assert.deepEqual(await outcomes(place, names), ['COMPLETED', 'COMPLETED'], 'a request each')
  await page.reload()
  await list.getByRole('status').getByText('2 of 2 separated', { exact: true }).waitFor()
}

/** Without a reload the page says that the service does not answer, and later shows the result. */
async function killedService(place: Place): Promise<void> {
  const { winnow } = place
  const page = await signedIn(place)
  await chooseLongFile(place, page, 60)
  await separate(page)
  await page.getByRole('progressbar', { name: 'Progress of noise' }).waitFor()
  await page.evaluate(() => (document.documentElement.dataset.page = 'the same'))
  await winnow.gateway.end('SIGKILL')
  const away = page.getByRole('alert').getByText('The service does not answer.')
  await away.waitFor()
  await page.getByText(/Trying again in \d+ s\./).waitFor()
  await winnow.startGateway()
  await away.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Null test' }).waitFor({ timeout: LONG_FILE_MS_MAX })
  assert.equal(await page.evaluate(() => document.documentElement.dataset.page), 'the same')
}

/** A request canceled while it was submitted is canceled after the reload, or was never made. */
async function canceled(place: Place): Promise<void> {
  const page = await signedIn(place)
  const one = ['one canceled.wav']
  const reload = await submitUnanswered(place, page, one, 'arrives')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await reload()
  await untilCanceled(place, one)
  await formIsBack(page)

  const gone = ['canceled elsewhere.wav']
  const reloadGone = await submitUnanswered(place, page, gone, 'arrives')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  const { data } = await place.winnow.client.list({ limit: 1 })
  await place.winnow.client.cancel(data[0]!)
  await reloadGone()
  await formIsBack(page)

  const two = ['canceled.wav', 'also canceled.wav']
  const reloadTwo = await submitUnanswered(place, page, two, 'arrives')
  for (const name of two) await page.getByRole('button', { name: `Cancel ${name}` }).click()
  await reloadTwo()
  const list = page.getByRole('region', { name: 'Files' })
  await list.getByText('0 of 2 separated, 2 canceled').waitFor()
  await untilCanceled(place, two)
}

/** Asserts that no submit is remembered any more, and that no error is shown. */
async function formIsBack(page: Page): Promise<void> {
  await page.waitForFunction(() => sessionStorage.getItem('winnow-submit') === null)
  await page.getByRole('button', { name: 'Separate', exact: true }).waitFor()
  assert.equal(await page.getByRole('alert').filter({ hasText: /./ }).count(), 0)
}

/** Waits until all are canceled: without an engine, other requests would wait forever. */
async function untilCanceled(place: Place, names: readonly string[]): Promise<void> {
  const expected = names.map(() => 'CANCELED').join()
  while ((await outcomes(place, names)).join() !== expected) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A refused request is not submitted again, and is forgotten together with its source. */
async function refused(place: Place): Promise<void> {
  const page = await signedIn(place)
  let submits = 0
  const message = 'The address answers with 404.'
  await page.route('**/audio/separate', (route) => {
    submits += 1
    return route.fulfill({ status: 502, json: { error: { code: 'MEDIA_FETCH_FAILED', message } } })
  })
  const address = page.getByLabel('or a public https address')
  await address.fill('https://example.com/gone.wav')
  await page.getByLabel('Prompt 1').fill('siren')
  await separate(page)
  await page.getByText(message).waitFor()
  assert.equal(await rememberedSubmit(page), null)
  await page.reload()
  await formIsBack(page)
  assert.equal(await page.getByText(message).count(), 0)

  await address.fill('https://example.com/gone.wav')
  await page.getByLabel('Prompt 1').fill('siren')
  await separate(page)
  await page.getByText(message).waitFor()
  assert.equal(submits, 2, 'each time once')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText(message).waitFor({ state: 'detached' })
}

/** A submit is forgotten at sign-out, because whoever signs in next must not see it. */
async function signedOut(place: Place): Promise<void> {
  const page = await signedIn(place)
  await submitUnanswered(place, page, ['not theirs.wav'], 'is lost')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  assert.equal(await rememberedSubmit(page), null)
}

let winnow: Winnow
let browser: Browser
before(async (t) => {
  const context = t as TestContext
  browser = await launchBrowser(context)
  winnow = await startWinnow(context)
})

for (const arrival of ['arrives', 'is lost'] as const) {
  test(`the page recovers when reloaded before its submit ${arrival}`, (t) =>
    oneFile({ t, winnow, browser }, arrival))
  test(`the page recovers when reloaded before several submits, each of which ${arrival}`, (t) =>
    severalFiles({ t, winnow, browser }, arrival))
}
test('the page recovers when its service was killed and restarted', (t) =>
  killedService({ t, winnow, browser }))

describe('when reloaded before a submit is answered, the page cancels', () => {
  before(() => winnow.engines[0]!.end('SIGTERM'))
  const cases: Cases = {
    'what was canceled': canceled,
    'nothing that was refused': refused,
    'nothing after signing out': signedOut,
  }
  for (const [name, run] of Object.entries(cases)) {
    test(name, { timeout: 120_000 }, (t) => run({ t, winnow, browser }))
  }
})
