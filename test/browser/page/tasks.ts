/** Tasks fill in the form, and determine what is played and offered first. */

import assert from 'node:assert/strict'
import {
  assertAccessible,
  chooseExample,
  nextInput,
  waitForPlayer,
  separate,
  signedIn,
  type Cases,
  type Place,
} from '../playground.ts'

async function fillsTheForm(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  const prompts = () =>
    page
      .getByRole('combobox', { name: /^Prompt \d$/ })
      .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value))
  const choose = (name: string) => page.getByRole('button', { name, exact: true }).click()
  await page.getByText('Takes out what you describe, and gives the rest too, in WAV.').waitFor()
  await choose('Clean up speech')
  assert.deepEqual(await prompts(), ['speech'])
  await page.getByText('“speech”, by mini').waitFor() // by now the models are known
  await choose('Split a song')
  assert.deepEqual(await prompts(), ['drum kit', 'bass', 'electric guitar', 'piano', 'singing'])
  await page.getByText('Gives each instrument a file of its own, in FLAC.').waitFor()
  await page.getByText('What prompts understand').click()
  await page.getByText('everything but a sound', { exact: true }).waitFor()
  await page.getByText('Expert options').click()
  assert.equal(await page.getByLabel('Format').inputValue(), 'flac')
  await page.getByLabel('Tries per section; the best is kept').waitFor()
  await assertAccessible(page, 'a task')
  await choose('Remove a sound')
  assert.deepEqual(await prompts(), [''])
  assert.equal(await page.getByLabel('Format').inputValue(), 'wav')
  await choose('Dialogue from a video')
  assert.deepEqual(await prompts(), ['speech'])
  await choose('Anything')
  assert.deepEqual(await prompts(), [''])
}

/** Removes a sound: the rest is what is played first, even after a reload. */
async function removesASound(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByRole('button', { name: 'Remove a sound' }).click()
  await page.getByLabel('Prompt 1').fill('piano')
  const submitted = nextInput<Record<string, unknown>>(page)
  await separate(page)
  assert.equal((await submitted).prompt, 'piano')
  const residualIsFirst = async () => {
    await waitForPlayer(page)
    await page.getByRole('button', { name: 'Solo The rest', pressed: true }).waitFor()
    const [first] = await page.locator('.downloads .name').allInnerTexts()
    assert.equal(first, 'The rest')
  }
  await residualIsFirst()
  await page.reload()
  await residualIsFirst()
  await page.getByRole('button', { name: 'Separate further: The rest' }).click()
  await page.getByRole('button', { name: 'Anything', pressed: true }).waitFor()
}

export const tasks: Cases = {
  'each task fills in prompts and format': fillsTheForm,
  'after removing a sound the rest comes first': removesASound,
}
