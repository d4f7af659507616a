/** Calls of the page are slow, or fail, in a real browser with the real gateway. */

import assert from 'node:assert/strict'
import test, { before, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../support/page/browser.ts'
import { openWithKey, startReachable } from '../support/page/page-gateway.ts'
import { chooseExample, nextInput, separate } from './playground.ts'

const UPLOADS = '**/media/inputs/**'

let browser: Browser
before(async (t) => {
  browser = await launchBrowser(t as TestContext)
})

/** Holds calls of the page from now on; returns a function that lets them go on. */
async function hold(page: Page, calls: string): Promise<() => void> {
  let release = () => {}
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  await page.route(calls, async (route) => {
    await isReleased
    await route.continue()
  })
  return release
}

test('what is submitted is what the form said when Separate was pressed', async (t) => {
  const page = await openWithKey(t, browser, await startReachable(t))
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  const release = await hold(page, UPLOADS)
  const uploading = page.waitForRequest(UPLOADS)
  const input = nextInput<{ prompt: string; side?: string }>(page)
  await separate(page)
  await uploading
  await page.getByRole('button', { name: 'Remove a sound' }).click()
  await page.getByLabel('Prompt 1').fill('speech')
  release()
  const { prompt, side } = await input
  assert.deepEqual([prompt, side], ['piano', undefined])
  await page.getByText('piano', { exact: true }).waitFor()
})
