/** Tests the chip of each lane, which shows whether the sound was found. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  chooseExample,
  idOf,
  inputWithoutUpload,
  waitForPlayer,
  separate,
  separated,
  separateExample,
  signedIn,
  SPEECH_OVER_PIANO,
  type Cases,
  type Place,
} from '../playground.ts'
import { wavBytes } from '../../support/media/wav.ts'

const chip = (page: Page, lane: string) =>
  page.getByRole('button', { name: `What was found of ${lane}: ` })

async function foundAbsentAndUnknown(place: Place): Promise<void> {
  const page = await separated(place, 'piano', 'siren', 'lawn mower')
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
  await explained.getByText(/^It is there by \d+ % probability\.$/).waitFor()
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
  await full.click()
  assert.equal(await solo.getAttribute('aria-pressed'), 'true', 'it was alone, and stays so')
  await page.getByRole('button', { name: 'Pause' }).click()
  assert.equal(await page.getByText('Play at full level').count(), 1)
  await assertAccessible(page, 'chips')
  const log = page.locator('details.logs')
  assert.equal(await log.evaluate((element: HTMLDetailsElement) => element.open), false)
}

/** Adds findings and sounds to results, as a tagger would. */
const addFindings = (page: Page, ...more: object[]) =>
  page.route('**/result', async (route) => {
    const reply = await route.fetch()
    const result = (await reply.json()) as { data: { findings: object[] } }
    const findings = result.data.findings.map((finding, i) => ({ ...finding, ...more[i] }))
    const bird = { name: 'bird', spans: [{ start: 1, end: 2 }], share: 0.17, match: 0.9 }
    const sounds = [{ ...bird, name: 'piano' }, bird]
    await route.fulfill({ json: { ...result, data: { ...result.data, findings, sounds } } })
  })

async function whereAndSimilar(place: Place): Promise<void> {
  const page = await signedIn(place)
  const where = [
    { start: 0.5, end: 2 },
    { start: 4, end: 5.5 },
  ]
  await addFindings(page, { where, share: 0.5 }, { state: 'similar', similar_to: 'violin' })
  await separateExample(page, 'piano', 'siren')
  const first = idOf(page)
  const at = '0:01–0:02, 0:04–0:06, 50 % of the file'
  const band = page.getByRole('img', { name: `“piano” sounds at ${at}` })
  const [begins] = await band.locator('span').all()
  const [whole, part] = [await band.boundingBox(), await begins!.boundingBox()]
  assert.ok(Math.abs(part!.width / whole!.width - 0.25) < 0.02, 'a quarter of six seconds')
  assert.match(await chip(page, 'siren').innerText(), /^only similar, like violin/)
  await chip(page, 'siren').click()
  await page.locator('.explained:popover-open').getByText('Listen before you use it.').waitFor()
  await assertAccessible(page, 'where a sound is')
  await page.keyboard.press('Escape')
  const input = await inputWithoutUpload(page, () => page.getByText('Try “violin”').click())
  assert.deepEqual(input.prompts, ['piano', 'violin'])
  assert.equal(input.output, 'source')
  await page.waitForURL((url) => !url.hash.includes(first))
  await waitForPlayer(page)
  const others = page.getByRole('group', { name: 'Also in this file' }).getByRole('button')
  await others.first().waitFor()
  assert.deepEqual(await others.allInnerTexts(), ['bird'], 'what nobody asked for')
  const further = await inputWithoutUpload(page, () => others.click())
  assert.deepEqual([further.prompt, further.output], ['bird', 'source'])
}

async function vouching(place: Place): Promise<void> {
  const page = await separated(place, 'siren')
  const source = { request_id: idOf(page), output: 'source' }
  const keep = page.getByRole('button', { name: 'It is there: don’t soften it (siren)' })
  await page.getByText(/assuming that “siren” can be heard throughout: .* dB louder/).waitFor()
  await page.keyboard.press('l')
  await page.getByText(/can be heard from 0:00\.0 to 0:02\.0: .* elsewhere it is silent/).waitFor()
  await assertAccessible(page, 'an offer to vouch for a sound')
  const marked = [{ start: 0, end: 2, include: true }]
  const keptInput = await inputWithoutUpload(page, () => keep.press('Enter'))
  assert.deepEqual(keptInput, { prompt: 'siren', spans: marked, ...source, preview: true })
  await page.waitForURL((url) => !url.hash.includes(source.request_id))
  await waitForPlayer(page)
  assert.equal(await keep.count(), 0, 'it was said')
  await page.reload()
  await waitForPlayer(page)
  assert.equal(await keep.count(), 0, 'after a reload too')

  await page.getByText('Not what you wanted? Change the words').click()
  await page.getByText(`${SPEECH_OVER_PIANO}, the source of an earlier request`).waitFor()
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), 'siren')
  await page.getByRole('button', { name: 'Remove a sound' }).click()
  await page.getByLabel('Prompt 1').fill('siren')
  await separate(page)
  await waitForPlayer(page)
  const removed = idOf(page)
  const out = page.getByRole('button', { name: 'It is there: take it out (siren)' })
  const { spans, ...taken } = await inputWithoutUpload(page, () => out.click())
  const whole = spans as { start: number; end: number; include: boolean }[]
  assert.deepEqual([whole.length, whole[0]!.start, whole[0]!.include], [1, 0, true])
  assert.ok(whole[0]!.end > 5.9, 'all of it')
  const again = { request_id: removed, output: 'source', preview: true }
  const asked = { prompt: 'siren', side: 'residual', ...again }
  assert.deepEqual(taken, asked)
  await page.waitForURL((url) => !url.hash.includes(removed))
  await page.getByRole('button', { name: 'Solo The rest', pressed: true }).waitFor()
}

/** The sounds in a file are listed before it is separated, and it is then not uploaded again. */
async function soundsInFile(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByRole('button', { name: 'What is in it?' }).click()
  const sounds = page.getByRole('group', { name: 'Sounds in this file' })
  const prominent = sounds.getByRole('button').first()
  await prominent.click()
  const [name] = /^[a-z ]+(?= \d)/.exec(await prominent.innerText())!
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), name)
  await assertAccessible(page, 'what is in a file')
  const input = await inputWithoutUpload(page, () => separate(page))
  assert.deepEqual(Object.keys(input), ['prompt', 'file_id', 'preview'])
  await waitForPlayer(page)
  await page.getByRole('button', { name: 'New separation' }).click()
  const history = page.getByRole('list').getByRole('button', { name: /^Separate again/ })
  await history.first().waitFor()
  assert.equal(await page.getByRole('button', { name: 'Separate again:  from' }).count(), 0)
}

async function silence(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'silent.wav')
  await writeFile(path, wavBytes([new Float32Array(8_000)], 8_000))
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByText('This file is silent').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  page.on('dialog', (dialog) => void dialog.accept()) // the page asks whether to send it anyway
  await separate(page)
  await waitForPlayer(page)
  await page.getByText('This file is silent').waitFor()

  await page.getByRole('button', { name: 'New separation' }).click()
  await page.getByLabel('Prompt 1').fill('drums')
  const { prompt } = await inputWithoutUpload(page, () => separate(page)) // the service already has the file
  assert.equal(prompt, 'drums')
}

export const chips: Cases = {
  'found, absent and unknown': foundAbsentAndUnknown,
  'where a sound is, and what else sounds like it': whereAndSimilar,
  'a user corrects a finding without an upload': vouching,
  'the sounds in a file are listed': soundsInFile,
  'a silent file is called silent': silence,
}
