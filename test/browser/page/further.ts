/** Separates an output again, in a real browser with the real service. */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  idOf,
  inputWithoutUpload,
  nullTest,
  waitForPlayer,
  separate,
  separated,
  type Cases,
  type Place,
} from '../playground.ts'

const furtherOf = (page: Page, lane: string) =>
  page.getByRole('button', { name: `Separate further: ${lane}`, exact: true })

/** Separates; returns the `input` that the page submits, and asserts that it uploads nothing. */
const submittedInput = (page: Page) => inputWithoutUpload(page, () => separate(page))

const promptHasFocus = (page: Page) =>
  page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Prompt 1')

/** Separates an output, then an output of that: each result is compared with its own source. */
async function chain(place: Place): Promise<void> {
  const page = await separated(place, 'piano', 'speech')
  assert.equal(await page.getByRole('button', { name: /^Separate further/ }).count(), 3)
  const first = idOf(page)
  await page.getByLabel('Prompt 1').waitFor({ state: 'detached' })
  await furtherOf(page, 'speech').click()
  await page.getByText('speech-over-piano.speech.wav, an output of an earlier request').waitFor()
  await promptHasFocus(page)
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), '', 'another sound')
  assert.equal(await page.getByRole('combobox', { name: /^Prompt/ }).count(), 1)
  await page.keyboard.type('a man')
  await page.getByText('Where does it sound?').click()
  await page.getByRole('img', { name: 'Waveform of the source' }).waitFor()
  await page.getByText('The same from your own code').click()
  await page.getByText(`"request_id":"${first}","output":"target","output_index":1`).waitFor()
  await assertAccessible(page, 'an output as the source')
  const ofSpeech = { request_id: first, output: 'target', output_index: 1, preview: true }
  assert.deepEqual(await submittedInput(page), { prompt: 'a man', ...ofSpeech })
  await waitForPlayer(page)
  await page.getByRole('heading', { name: 'speech-over-piano.speech.wav' }).waitFor()
  assert.ok((await nullTest(page)).peakDb < -130)

  await page.reload() // this browser still has its source
  await waitForPlayer(page)
  assert.ok((await nullTest(page)).peakDb < -130)
  const second = idOf(page)
  assert.notEqual(second, first)
  await furtherOf(page, 'The rest').click()
  await promptHasFocus(page)
  await page.keyboard.type('wind')
  const ofRest = { request_id: second, output: 'residual', preview: true }
  assert.deepEqual(await submittedInput(page), { prompt: 'wind', ...ofRest })
  await page
    .getByRole('heading', { name: 'speech-over-piano.speech.rest.without-a-man.wav' })
    .waitFor()
  await waitForPlayer(page)
}

/** A missing output shows a message next to its button. */
async function missingOutput(place: Place): Promise<void> {
  const page = await separated(place, 'piano')
  const error = { code: 'NOT_FOUND', message: 'These outputs are gone.' }
  await page.route('**/media/outputs/**', (route) =>
    route.fulfill({ status: 404, json: { error } }),
  )
  await furtherOf(page, 'piano').click()
  const lane = page.getByRole('region', { name: 'piano', exact: true })
  await lane.getByRole('alert').getByText('These outputs are gone.').waitFor()
  assert.equal(await furtherOf(page, 'piano').isEnabled(), true)
  await assertAccessible(page, 'a lane with a message')
}

export const further: Cases = {
  'step after step, without an upload': chain,
  'a missing output shows a message': missingOutput,
}
