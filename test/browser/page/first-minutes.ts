/** Tests a user's first minutes: an example with one click, and problems shown before an upload. */

import assert from 'node:assert/strict'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FILE_BYTES_MAX } from '../../../shared/file-limits.ts'
import { openPage } from '../../support/page/browser.ts'
import {
  assertAccessible,
  MEDIA_SECONDS_MAX,
  separate,
  signedIn,
  type Cases,
  type Place,
} from '../playground.ts'
import { examplePath } from '../../support/media/examples.ts'
import { makeMedia } from '../../support/media/make-media.ts'
import { noise } from '../../support/media/signals.ts'
import { wavBytes } from '../../support/media/wav.ts'

async function oneClick(place: Place): Promise<void> {
  const page = await signedIn(place)
  const examples = page.getByRole('group', { name: 'Examples' })
  assert.match(await examples.innerText(), /^drums and flute/)
  await page.getByRole('button', { name: 'Play drums and flute' }).click()
  const stop = page.getByRole('button', { name: 'Stop drums and flute' })
  await page.waitForFunction(() => (document.querySelector('audio')?.currentTime ?? 0) > 0)
  await stop.click()
  await page.waitForFunction(() => document.querySelector('audio')!.paused)
  await page.getByRole('button', { name: 'Hear the drums alone' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor() // it is playing
  const solo = page.getByRole('button', { name: 'Solo drums' })
  assert.equal(await solo.getAttribute('aria-pressed'), 'true')
  await page.getByRole('button', { name: 'New separation' }).click()
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), 'drums')
}

async function beforeItIsSent(place: Place): Promise<void> {
  const page = await signedIn(place)
  const choose = async (name: string, bytes: Uint8Array | string, size?: number) => {
    const path = join(place.winnow.folder, name)
    await writeFile(path, bytes)
    if (size !== undefined) await truncate(path, size)
    await page.getByLabel('Choose files').setInputFiles(path)
  }
  const alert = (text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor()
  const button = page.getByRole('button', { name: 'Separate', exact: true })
  await page.getByText('Still needed: a file and a sound in words.').waitFor()
  assert.equal(await button.isDisabled(), true)
  await choose('notes.txt', 'no sound')
  await alert('notes.txt is no audio or video, but text/plain.')
  await choose('large.wav', '', FILE_BYTES_MAX + 1)
  await alert('large.wav: 524.3 MB; the limit is 524.3 MB.')
  await choose('empty.wav', '')
  await alert('empty.wav is empty.')
  await choose('silent.wav', wavBytes([new Float32Array(8_000)], 8_000))
  await alert('This file is silent')
  await assertAccessible(page, 'a silent file')
  await choose('noise.wav', wavBytes([noise(1, 8_000)], 8_000))
  await page.getByText('noise.wav, 17 kB').waitFor()
  await page.getByText('This file is silent').waitFor({ state: 'detached' })
  await page.getByText('Still needed: a sound in words.').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByText('Still needed').waitFor({ state: 'detached' })
  assert.equal(await button.isEnabled(), true)
}

/** A browser may misread a file, so it can be sent anyway, and the service decides. */
async function asksBeforeItSends(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'too long.wav')
  await writeFile(path, wavBytes([noise(MEDIA_SECONDS_MAX + 1, 8_000)], 8_000))
  await page.getByLabel('Choose files').setInputFiles(path)
  const warning = 'This file lasts 4:11, and the service takes at most 4:10.'
  await page.getByRole('alert').filter({ hasText: warning }).waitFor()
  await page.getByLabel('Prompt 1').fill('noise')
  let calls = 0
  await page.route('**/v1/files', (route) => {
    calls += 1
    return route.continue()
  })
  const dialogShown = page.waitForEvent('dialog')
  const pressed = separate(page)
  const dialog = await dialogShown
  assert.equal(dialog.message(), `${warning} Send it anyway?`)
  await dialog.dismiss()
  await pressed
  page.on('dialog', (dialog) => void dialog.accept())
  await separate(page)
  await page.getByText(/^The media lasts .* the limit is 250 s\./).waitFor()
  assert.equal(calls, 1, 'it is sent only now')

  await page.getByRole('button', { name: 'New separation' }).click()
  await page.getByLabel('Choose files').setInputFiles([path, examplePath('siren-and-speech.wav')])
  await separate(page)
  const files = page.getByRole('region', { name: 'Files' })
  await files.getByText('1 of 2 separated, 1 failed').waitFor()
  await files.getByRole('listitem').filter({ hasText: 'too long' }).getByText(warning).waitFor()
}

/** A long file is not decoded: two hours would take gigabytes. */
async function longFile(place: Place): Promise<void> {
  const path = join(place.winnow.folder, 'long.flac')
  const planes = [new Float32Array(31 * 60 * 8_000)]
  await makeMedia(path, 'flac', { audio: { planes, sampleRate: 8_000, encoder: 'flac' } })
  const page = await signedIn(place)
  await page.evaluate(() => {
    const { prototype } = OfflineAudioContext
    prototype.decodeAudioData = () => {
      document.title = 'decoded'
      return Promise.reject(new Error('decoded'))
    }
  })
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByText('Where does it sound?').click()
  await page.getByText('This file is too long to be drawn: add times.').waitFor()
  assert.equal(await page.title(), 'Winnow')
}

/** The first text is painted while the script loads, which then replaces it. */
async function beforeTheScript({ t, winnow, browser }: Place): Promise<void> {
  const page = await openPage(t, browser, `${winnow.url}/healthz`)
  let arrive = () => {}
  const arrives = new Promise<void>((resolve) => (arrive = resolve))
  await page.route('**/assets/page-*.js', async (route) => {
    await arrives
    await route.continue()
  })
  await page.goto(winnow.url, { waitUntil: 'commit' })
  await page.getByText('one sound out of many').waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Take one sound out' }).count(), 0)
  arrive()
  await page.getByRole('heading', { name: 'Take one sound out' }).waitFor()
  assert.equal(await page.getByText('one sound out of many').count(), 1)
}

export const firstMinutes: Cases = {
  'an example plays, and its drums alone with one click': oneClick,
  'the name of the page is painted before the script runs': beforeTheScript,
  'size, type and silence are checked before the upload': beforeItIsSent,
  'the page asks before it sends a file that is too long': asksBeforeItSends,
  'a chosen long file is not decoded': longFile,
}
