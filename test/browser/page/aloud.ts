/**
 * Tests the page for screen readers: where the focus moves when its element disappears, and which
 * changes are announced. docs/how-to/playground.md reports what Orca reads aloud.
 */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { enterKey, openPage } from '../../support/page/browser.ts'
import {
  chooseExample,
  chooseLongFile,
  waitForPlayer,
  separate,
  separateExample,
  signedIn,
  type Cases,
  type Place,
} from '../playground.ts'
import { API_KEY } from '../../support/processes/start-winnow.ts'

/** Resolves when the focused element matches the selector. */
const focusIsOn = (page: Page, selector: string) =>
  page.waitForFunction((wanted) => document.activeElement?.matches(wanted), selector)

/** Presses a button with the keyboard. */
async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).focus()
  await page.keyboard.press('Enter')
}

/** Records from now on what live regions announce. */
const listen = (page: Page) =>
  page.evaluate(() => {
    const announcements: string[] = []
    const texts = new Map<Element, string>()
    new MutationObserver(() => {
      for (const region of document.querySelectorAll('[role=status], [role=alert], output')) {
        const text = region.textContent.trim()
        if (text !== '' && text !== (texts.get(region) ?? '')) announcements.push(text)
        texts.set(region, text)
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
    Object.assign(globalThis, { said: announcements })
  })

const announcements = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { said: string[] }).said.splice(0))

async function focusMovesOn({ t, winnow, browser }: Place): Promise<void> {
  const page = await openPage(t, browser, winnow.url)
  await enterKey(page, 'sep_wrong_key')
  await page.getByText('The API key is missing or invalid.').first().waitFor()
  await page.getByLabel('API key').fill(API_KEY)
  await page.keyboard.press('Enter')
  await focusIsOn(page, '#new')

  await chooseExample(page)
  await press(page, 'Add another sound')
  await focusIsOn(page, '[aria-label="Prompt 2"]')
  await press(page, 'Remove prompt 2')
  await focusIsOn(page, '[aria-label="Prompt 1"]')
  await page.getByText('Where does it sound?').click()
  await press(page, 'Add times')
  await focusIsOn(page, '[aria-label="start of span 1, in seconds"]')
  await press(page, 'Remove span 1')
  await page.waitForFunction(() => document.activeElement?.textContent === 'Add times')

  await page.getByLabel('Prompt 1').fill('piano')
  await page.route('**/v1/files', (route) => route.abort())
  await press(page, 'Separate')
  await page.getByRole('alert').getByText('does not answer').waitFor()
  await focusIsOn(page, 'button.primary')
  await page.unroute('**/v1/files')
  await page.keyboard.press('Enter')
  await waitForPlayer(page)
  await focusIsOn(page, '#request')
  await press(page, 'New separation')
  await focusIsOn(page, '#new')
  await press(page, 'Sign out')
  await focusIsOn(page, '#sign-in')
}

/** Leaves out announcements that depend on the speed of the machine. */
const timeless = (texts: readonly string[]): string[] =>
  texts.filter((text) => !/^(Looking|Uploading|connecting|in the queue|“|100 %: only)/.test(text))

/** The page announces what happens, but no number that keeps changing. */
async function announcesEvents(place: Place): Promise<void> {
  const page = await signedIn(place)
  await listen(page)
  await chooseLongFile(place, page)
  assert.deepEqual(timeless(await announcements(page)), ['long.wav, 3.8 MB'])
  await separate(page)
  const progress = page.getByText(/^\d+ %, about \d+ (s|min) left/)
  const seen = (await progress.textContent()) ?? ''
  await progress.filter({ hasNotText: seen }).waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText('Canceled.').waitFor()
  const steps = timeless(await announcements(page))
  assert.equal(steps[0], 'separating')
  assert.equal(steps[1], 'Canceled. Nothing was charged.')
  assert.equal(steps.length, 2, steps.join('; '))

  await page.getByRole('button', { name: 'New separation' }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await separateExample(page, 'piano')
  const ended = (await announcements(page)).filter((text) => text.startsWith('completed'))
  assert.deepEqual(
    ended.map((text) => text.replace(/\d+/, '0')),
    ['completed "piano" was found (match 0 %).'],
  )
  await page.getByRole('button', { name: 'Null test' }).click()
  await page.getByText(/peaks at/).waitFor()
  assert.match(
    (await announcements(page)).join('; '),
    /^Rendering…; Mixture minus targets .* peaks at -/,
  )
}

export const aloud: Cases = {
  'the focus moves on when its element disappears': focusMovesOn,
  'events are announced, but nothing that keeps changing': announcesEvents,
}
