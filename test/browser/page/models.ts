/** Tests how the page shows which model answers: while typing, as stem buttons, and without stems. */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  chooseExample,
  nextInput,
  signedIn,
  type Cases,
  type Place,
} from '../playground.ts'

const answers = (page: Page) => page.getByRole('status', { name: 'Who answers' })

/** Uses a service whose engine has only the built-in model. */
async function withoutStems(place: Place): Promise<void> {
  const page = await signedIn(place)
  const noModel = page.getByText('No model for songs is installed')
  const hint = page.getByText('winnow model fetch scnet')
  assert.deepEqual([await noModel.count(), await hint.count()], [0, 0], 'nobody asked for stems')
  await page.getByRole('button', { name: 'Split a song' }).click()
  await noModel.waitFor()
  await hint.waitFor()
  assert.equal(await hint.count(), 1, 'once for all prompts')
  await page.getByRole('button', { name: 'Anything' }).click()
  assert.equal(await page.getByRole('group', { name: 'Stems' }).count(), 0)
  await page.getByLabel('Prompt 1').fill('vocals')
  await answers(page).getByText('“vocals”, by mini').waitFor()
  await page.getByLabel('Prompt 1').fill('lawn mower')
  await answers(page).getByText('“lawn mower”, by mini, which knows no sound by this').waitFor()
  assert.equal(await hint.count(), 0, 'it is no stem of a song')
  await page.getByLabel('Prompt 1').fill('no drums')
  await answers(page).getByText('“no drums”: everything but drums, by mini').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  await answers(page).getByText('“piano”, by mini', { exact: true }).waitFor()
  const offered = await page
    .locator('#sounds option')
    .evaluateAll((all) => all.map((option) => (option as HTMLOptionElement).value))
  assert.ok(offered.includes('accordion') && offered.length < 200, `${offered.length}`)
  assert.equal(await page.getByLabel('Prompt 1').getAttribute('list'), 'sounds')
  await assertAccessible(page, 'the form without stems')
}

const model = (name: string, stems: readonly string[]) => ({
  name,
  summary: '',
  answers: stems.length > 0 ? 'stems' : 'text',
  stems,
  engine_ids: [],
})

/** Signs in to a service that also lists models for songs. */
async function signedInWithStems({ t, winnow, browser }: Place): Promise<Page> {
  const context = await browser.newContext()
  t.after(() => context.close())
  const separators = [
    model('htdemucs', ['drums', 'bass', 'other', 'vocals']),
    model('spleeter', ['vocals', 'accompaniment']),
    model('mini', []),
  ]
  const body = JSON.stringify({ object: 'list', data: [{ separators }] })
  await context.route('**/v1/models', (route) =>
    route.fulfill({ contentType: 'application/json', body }),
  )
  return signedIn({ t, winnow, browser: { newContext: async () => context } as never })
}

async function withStems(place: Place): Promise<void> {
  const page = await signedInWithStems(place)
  const stems = page.getByRole('group', { name: 'Stems' })
  const stem = (name: string) => stems.getByRole('button', { name, exact: true })
  await stems.waitFor()
  const offered = ['drums', 'bass', 'other', 'vocals', 'instrumental']
  assert.deepEqual(await stems.getByRole('button').allInnerTexts(), offered)
  const pressed = () => stems.locator('[aria-pressed=true]').allInnerTexts()
  await stem('vocals').focus()
  await page.keyboard.press('Enter')
  await answers(page).getByText('“vocals”, by htdemucs').waitFor()
  assert.equal(await page.getByText('winnow model fetch scnet').count(), 0)
  await stem('drums').click()
  assert.deepEqual(await pressed(), ['drums', 'vocals'])
  assert.equal(await page.getByRole('combobox', { name: 'Prompt 2' }).inputValue(), 'drums')
  await stem('vocals').click()
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), 'drums')
  await stem('drums').click()
  assert.deepEqual(await pressed(), [])
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), '')
  await page.getByLabel('Prompt 1').fill('Karaoke')
  await answers(page).getByText('“Karaoke”: everything but vocals, by htdemucs').waitFor()
  await page.getByLabel('Prompt 1').fill('a dog')
  await answers(page).getByText('“a dog”, by mini').waitFor()
  await assertAccessible(page, 'the form with stems')
}

async function chosenModel(place: Place): Promise<void> {
  const page = await signedInWithStems(place)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('a dog')
  await page.getByText('Options').click()
  await page.getByLabel('Model').selectOption('htdemucs')
  await answers(page).getByText('"a dog" is not one of the stems').waitFor()
  await page.getByLabel('Model').selectOption('mini')
  await answers(page).getByText('“a dog”, by mini').waitFor()
  const submitted = nextInput<{ separator: string }>(page)
  await page.getByRole('button', { name: 'Separate', exact: true }).click()
  assert.equal((await submitted).separator, 'mini')
}

export const models: Cases = {
  'without a model for songs it says how to get one': withoutStems,
  'stems are buttons, and each prompt shows its model': withStems,
  'a chosen model is submitted': chosenModel,
}
