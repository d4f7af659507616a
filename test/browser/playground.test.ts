/** The page at `/` in a real browser, with the real service. */

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Browser, Download, Page } from 'playwright-core'
import { accessibilityProblems, launchBrowser, openPage } from './browser.ts'
import { examplePath, readWav16 } from '../support/examples.ts'
import { noise } from '../support/signals.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/start-winnow.ts'
import { readWav24, wavBytes } from '../support/wav.ts'

const ADMIN_TOKEN = 'the-admin-token-of-this-test'
const SPEECH_OVER_PIANO = 'speech-over-piano.wav'

interface Place {
  t: TestContext
  winnow: Winnow
  browser: Browser
}

const post = (winnow: Winnow, path: string, token: string, body?: object) =>
  fetch(`${winnow.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

/** A page that is signed in by a one-time code. */
async function signedIn({ t, winnow, browser }: Place): Promise<Page> {
  const { code } = (await (await post(winnow, '/playground/codes', API_KEY)).json()) as {
    code: string
  }
  const page = await openPage(t, browser, `${winnow.url}/#code=${code}`)
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the code has left the address')
  return page
}

/** Drops a file as from the desktop. */
async function drop(page: Page, path: string, name: string): Promise<void> {
  const base64 = (await readFile(path)).toString('base64')
  const transfer = await page.evaluateHandle(
    ({ base64, name }) => {
      const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
      const transfer = new DataTransfer()
      transfer.items.add(new File([content], name, { type: 'audio/wav' }))
      return transfer
    },
    { base64, name },
  )
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer })
}

async function chooseExample(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'speech over piano' }).click()
  await page.getByText(`${SPEECH_OVER_PIANO}, 0.5 MB`).waitFor()
}

const separate = (page: Page) => page.getByRole('button', { name: 'Separate', exact: true }).click()

const playerIsThere = (page: Page) => page.getByRole('button', { name: 'Null test' }).waitFor()

async function planesOf(download: Download): Promise<Float32Array[]> {
  return readWav24(await readFile(await download.path())).planes
}

async function saveMix(page: Page): Promise<Float32Array[]> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save this mix' }).click()
  return planesOf(await saved)
}

/** The largest difference of two signals. */
function largestDifference(one: readonly Float32Array[], other: readonly Float32Array[]): number {
  assert.equal(one.length, other.length)
  assert.equal(one[0]!.length, other[0]!.length)
  return Math.max(
    ...one.map((plane, c) =>
      plane.reduce((most, x, i) => Math.max(most, Math.abs(x - other[c]![i]!)), 0),
    ),
  )
}

/** Samples of 24 bits, rounded twice. */
const ROUNDING = 2 ** -22

async function assertAccessible(page: Page, state: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await accessibilityProblems(page), [], `${state}, ${colorScheme}`)
  }
  const size = page.viewportSize()!
  await page.setViewportSize({ width: 320, height: 700 })
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.equal(width, 320, `${state} fits a screen of 320 pixels`)
  assert.deepEqual(await accessibilityProblems(page), [], `${state}, narrow`)
  await page.setViewportSize(size)
}

/** Takes an engine a good while. */
async function chooseLongFile({ winnow }: Place, page: Page): Promise<void> {
  const path = join(winnow.folder, 'long.wav')
  await writeFile(path, wavBytes([noise(240, 8_000)], 8_000))
  await page.getByLabel('Choose a file').setInputFiles(path)
  await page.getByText('Options').click()
  await page.getByLabel('Quality').selectOption('quality')
  await page.getByLabel('Prompt 1').fill('noise')
}

async function fromDropToNullTest(place: Place): Promise<void> {
  const page = await signedIn(place)
  await assertAccessible(page, 'the form')
  await drop(page, examplePath(SPEECH_OVER_PIANO), 'a song.wav')
  await page.getByText('a song.wav, 0.5 MB').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByText('The same from your own code').click()
  await assertAccessible(page, 'the filled form')
  await separate(page)
  await playerIsThere(page)
  await assertAccessible(page, 'the player')
  await page.getByRole('button', { name: 'Null test' }).click()
  const verdict = page.getByText(/peaks at/)
  const [, peak] = /peaks at (-\d+\.\d) dB/.exec(await verdict.innerText()) ?? []
  assert.ok(Number(peak) < -130, await verdict.innerText())
  await assertSound(page)
}

/** What is heard is what the service has stored: solo and mute pick lanes, gains scale them. */
async function assertSound(page: Page): Promise<void> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download piano' }).click()
  const download = await saved
  assert.equal(download.suggestedFilename(), 'a song-piano.wav')
  const target = await planesOf(download)
  assert.ok(largestDifference(await saveMix(page), target) <= ROUNDING, 'the target is solo')
  await page.getByRole('button', { name: 'Solo piano' }).click()
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  const mixture = await readWav16(examplePath(SPEECH_OVER_PIANO))
  assert.ok(largestDifference(await saveMix(page), mixture) <= ROUNDING, 'target and residual')
  await page.getByRole('button', { name: 'Mute piano' }).click()
  await page.getByRole('button', { name: 'Mute Residual' }).click()
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  await page.getByLabel('Gain of Mixture in dB').fill('-6')
  const half = mixture.map((plane) => plane.map((x) => x * 10 ** (-6 / 20)))
  assert.ok(largestDifference(await saveMix(page), half) <= ROUNDING, 'the mixture, 6 dB lower')
}

/** The sound goes on, and keys act on it. */
async function playsByKeys(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  await playerIsThere(page)
  await page.getByRole('heading', { name: SPEECH_OVER_PIANO }).click() // out of the fields
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.waitForFunction(() => !/^0:00\.0/.test(document.querySelector('.clock')!.textContent))
  await page.keyboard.press('b')
  await page.getByRole('button', { name: 'A: Mixture' }).waitFor()
  await page.keyboard.press('b')
  await page.getByRole('button', { name: 'B: piano' }).waitFor()
  await page.keyboard.press('b')
  await page.keyboard.press('l')
  await page.getByRole('button', { name: /^Loop 0:/ }).waitFor()
  await page.keyboard.press('1')
  const solo = page.getByRole('button', { name: 'Solo Mixture' })
  assert.equal(await solo.getAttribute('aria-pressed'), 'true')
  await page.getByRole('button', { name: 'Spectrogram' }).click()
  await page.waitForFunction(() => {
    const [host] = document.querySelectorAll('.waveform > div')
    return host?.shadowRoot?.querySelector('canvas[width]')
  })
  await page.getByRole('button', { name: 'Zoom in' }).click()
}

async function spansByMouse(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByText('Where does it sound?').click()
  const waveform = page.getByRole('img', { name: 'Waveform of the source' })
  const drag = async (from: number, to: number) => {
    await waveform.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await waveform.boundingBox())!
    await page.mouse.move(x + from * width, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + to * width, y + height / 2, { steps: 8 })
    await page.mouse.up()
  }
  await waveform.waitFor()
  await drag(0.25, 0.5)
  await page.getByRole('button', { name: 'It does not' }).click()
  await drag(0.75, 0.9)
  await page.getByText('Where does it sound? (2)').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  const submitted = page.waitForRequest((request) => request.url().endsWith('/audio/separate'))
  await separate(page)
  const { input } = (await submitted).postDataJSON() as {
    input: { spans: { start: number; end: number; include: boolean }[] }
  }
  const [there, absent] = input.spans
  assert.deepEqual([there!.include, absent!.include], [true, false])
  assert.ok(Math.abs(there!.start - 1.5) < 0.1 && Math.abs(there!.end - 3) < 0.1, 'of six seconds')
  await playerIsThere(page)
  await page.getByText('Log', { exact: true }).click()
  await page.getByText(/Went by 2 given spans/).waitFor()
}

async function twoPrompts(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByRole('button', { name: 'Add another sound' }).click()
  await page.getByRole('textbox', { name: 'Prompt 2' }).fill('speech')
  await separate(page)
  await playerIsThere(page)
  for (const lane of ['Mixture', 'piano', 'speech', 'Residual']) {
    await page.getByRole('region', { name: lane, exact: true }).waitFor()
  }
  await page.getByText(/match of piano \d+ %, match of speech \d+ %/).waitFor()
  await page.getByRole('button', { name: 'Solo piano' }).click() // off: all but the mixture
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  const mixture = await readWav16(examplePath(SPEECH_OVER_PIANO))
  assert.ok(largestDifference(await saveMix(page), mixture) <= ROUNDING, 'lanes add up')
  await page.reload()
  await page.getByRole('button', { name: 'Download speech' }).waitFor() // it is one request
}

async function cancelAndReload(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseLongFile(place, page)
  await separate(page)
  await page.getByText(/^\d+ %/).waitFor()
  await page.reload()
  await page.getByText(/^\d+ %/).waitFor() // it goes on where it is
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('CANCELED').waitFor()
  await page.getByRole('button', { name: 'New separation' }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'noise' }).first()
  await row.getByText('failed').waitFor()
  await assertAccessible(page, 'the history')
}

async function historyPlays(place: Place): Promise<void> {
  const page = await signedIn(place)
  const row = page.getByRole('listitem').filter({ hasText: 'completed' }).first()
  await row.getByRole('button').click()
  await playerIsThere(page)
  assert.equal(await page.getByRole('button', { name: 'Null test' }).isDisabled(), true)
  await page.getByText('The source is not in this browser').waitFor()
}

async function badFile(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'no-sound.wav')
  await writeFile(path, 'this is no sound')
  await page.getByLabel('Choose a file').setInputFiles(path)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  await page.getByText('INVALID_MEDIA').waitFor()
  await assertAccessible(page, 'a failure')
}

async function keysEnd(place: Place): Promise<void> {
  const { t, winnow, browser } = place
  const made = await post(winnow, '/admin/keys', ADMIN_TOKEN, {
    scopes: ['models:read', 'files:write', 'files:read', 'audio:separate'],
  })
  const { key, key_id: keyId } = (await made.json()) as { key: string; key_id: string }
  const page = await openPage(t, browser, winnow.url)
  await page.getByLabel('API key').fill('sep_wrong_key')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The API key is missing or invalid.').first().waitFor()
  await assertAccessible(page, 'signing in')
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
  await page.getByRole('listitem').first().waitFor()
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await post(winnow, `/admin/keys/${keyId}/revoke`, ADMIN_TOKEN)
  await separate(page)
  await page.getByText(/Sign in again/).waitFor()
  await page.getByLabel('API key').waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.getItem('winnow-api-key')), null)
}

async function usedCode(place: Place): Promise<void> {
  const { t, winnow, browser } = place
  const page = await openPage(t, browser, `${winnow.url}/#code=${'0'.repeat(64)}`)
  await page.getByText(/The code is unknown, used or older/).waitFor()
}

async function microphone(place: Place): Promise<void> {
  const page = await signedIn(place)
  await page.getByRole('button', { name: 'Record' }).click()
  await page.getByRole('button', { name: 'Stop recording' }).click()
  await page.getByText(/recording\.webm/).waitFor()
}

async function operators({ t, winnow, browser }: Place): Promise<void> {
  const page = await openPage(t, browser, winnow.url)
  await page.getByRole('button', { name: 'Operators' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill('a-wrong-token')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('The admin token is missing or invalid.').waitFor()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('region', { name: 'Engines' }).getByText('mini').first().waitFor()
  await page.getByRole('region', { name: 'Last failures' }).getByText('INVALID_MEDIA').waitFor()
  await changeAccounts(page, winnow.url)
  await assertAccessible(page, 'the operators view')
}

/** Credits an account, and creates and revokes a key of it, as the service then shows. */
async function changeAccounts(page: Page, url: string): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  const account = await fetch(`${url}/admin/accounts`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'Metered', metered: true }),
  })
  const { account_id: accountId } = (await account.json()) as { account_id: string }
  const credit = page.getByRole('form', { name: 'Credit' })
  await credit.getByLabel('Account').selectOption(accountId)
  await credit.getByLabel('Seconds').fill('90')
  await credit.getByRole('button', { name: 'Credit' }).click()
  await credit.getByText('The balance is 90 s.').waitFor()
  await page.getByRole('region', { name: 'Accounts' }).getByText('90 s, 0 s reserved').waitFor()
  const creation = page.getByRole('form', { name: 'Create a key' })
  await creation.getByLabel('Account').selectOption(accountId)
  await creation.getByLabel('Name').fill('for a test')
  await creation.getByRole('button', { name: 'Create a key' }).click()
  const shown = await creation.getByText('The key, shown only now').textContent()
  const key = shown!.split(' ').at(-1)!
  const models = () => fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal((await models()).status, 200)
  const row = page.getByRole('row').filter({ hasText: 'for a test' })
  await row.getByRole('button').click()
  await row.getByText('Really?').click()
  await row.getByText('revoked').waitFor()
  assert.equal((await models()).status, 401)
}

test('the playground', async (t) => {
  const browser = await launchBrowser(t)
  const winnow = await startWinnow(t, { env: { ADMIN_TOKEN } })
  const cases: [string, (place: Place) => Promise<void>][] = [
    ['from a dropped file to the null test, sample by sample', fromDropToNullTest],
    ['it plays, compares and loops by keys', playsByKeys],
    ['spans drawn with the mouse reach the model', spansByMouse],
    ['two prompts give two targets, and lanes that add up', twoPrompts],
    ['a request goes on after a reload, and can be canceled', cancelAndReload],
    ['an earlier request is opened again', historyPlays],
    ['a file that is no media gets its message', badFile],
    ['a wrong key is refused, and a revoked one asks for another', keysEnd],
    ['a code that was used gets its message', usedCode],
    ['a recording of the microphone is a source', microphone],
    ['operators see engines, failures, accounts and keys', operators],
  ]
  for (const [name, run] of cases) await t.test(name, (t) => run({ t, winnow, browser }))
})
