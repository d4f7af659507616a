/** Each lane says what it is. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { anyChromium, fillPrompts, launchBrowser } from '../harness/browser.ts'
import {
  assertAccessible,
  chooseExample,
  lastsTwoHours,
  type Place,
  playerIsThere,
  separate,
  signedIn,
} from './playground.ts'
import { startWinnow } from '../harness/start-winnow.ts'
import { wavBytes } from '../harness/wav.ts'

const chip = (page: Page, lane: string) =>
  page.getByRole('button', { name: `What was found of ${lane}: ` })

async function chips(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await fillPrompts(page, 'piano', 'siren')
  await page.getByRole('button', { name: 'Add another sound' }).click()
  await page.getByRole('combobox', { name: 'Prompt 3' }).fill('lawn mower')
  await separate(page)
  await playerIsThere(page)
  assert.equal(await chip(page, 'piano').innerText(), 'found')
  assert.match(
    await chip(page, 'siren').innerText(),
    /^(unsure|probably not there), softer by \d+ dB$/,
  )
  const unknown = 'everything but speech, not “lawn mower”'
  assert.equal(await chip(page, unknown).innerText(), 'not known: this is everything but speech')
  await chip(page, 'piano').focus()
  await page.keyboard.press('Enter')
  const explained = page.locator('.explained:popover-open')
  await explained
    .getByText(/^The sound is .+ there: match \d+ %, where it is clearest\.$/)
    .waitFor()
  await assertAccessible(page, 'a chip that is explained')
  await page.keyboard.press('Escape')

  const full = page.getByRole('region', { name: 'siren' }).getByText('Play at full level')
  await full.click()
  assert.equal(await full.getAttribute('aria-pressed'), 'true')
  assert.ok(Number(await page.getByLabel('Gain of siren in dB').inputValue()) > 0)
  const solo = page.getByRole('button', { name: 'Solo siren' })
  assert.equal(await solo.getAttribute('aria-pressed'), 'true')
  await page.getByRole('button', { name: 'Pause' }).click()
  await full.click()
  assert.equal(await page.getByLabel('Gain of siren in dB').inputValue(), '0')
  assert.equal(await page.getByText('Play at full level').count(), 1)
  await assertAccessible(page, 'chips')
  const log = page.locator('details.logs')
  assert.equal(await log.evaluate((element: HTMLDetailsElement) => element.open), false)
}

async function silence(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'silent.wav')
  await writeFile(path, wavBytes([new Float32Array(8_000)], 8_000))
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  await playerIsThere(page)
  await page.getByText('This file is silent').waitFor()
}

async function longMedia(place: Place): Promise<void> {
  const page = await signedIn(place)
  await lastsTwoHours(page)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  await page.locator('audio').first().waitFor()
  assert.equal(await chip(page, 'piano').innerText(), 'found')
}

test('each lane says what it is', async (t) => {
  const browser = await launchBrowser(t, await anyChromium())
  const winnow = await startWinnow(t)
  const cases: [string, (place: Place) => Promise<void>][] = [
    ['found, not there and not known', chips],
    ['silence is called silence', silence],
    ['of long media too', longMedia],
  ]
  for (const [name, run] of cases) await t.test(name, (t) => run({ t, winnow, browser }))
})
