/** The page at `/` in a real browser, with the real service. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { enterKey, fillPrompts, openPage } from '../../support/page/browser.ts'
import {
  assertAccessible,
  chooseExample,
  chooseLongFile,
  drag,
  drop,
  largestDifference,
  nextInput,
  nullTest,
  planesOf,
  waitForPlayer,
  post,
  ROUNDING,
  saveMix,
  separate,
  separated,
  signedIn,
  SPEECH_OVER_PIANO,
  type Cases,
  type Place,
} from '../playground.ts'
import { examplePath, readWav16 } from '../../support/media/examples.ts'
import { ADMIN_TOKEN } from '../../support/gateway/admin.ts'
import { makeMedia } from '../../support/media/make-media.ts'
import { noise } from '../../support/media/signals.ts'
import { submitFile } from '../../support/processes/start-winnow.ts'
import { wavBytes } from '../../support/media/wav.ts'

async function fromDropToNullTest(place: Place): Promise<void> {
  const page = await signedIn(place)
  await assertAccessible(page, 'the form')
  await drop(page, examplePath(SPEECH_OVER_PIANO), 'a song.wav')
  await page.getByText('a song.wav, 0.5 MB').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByText('The same from your own code').click()
  await assertAccessible(page, 'the filled form')
  await separate(page)
  await waitForPlayer(page)
  await page.getByText(/^The service keeps these files until \w+ \d/).waitFor()
  await assertAccessible(page, 'the player')
  const { peakDb, verdict } = await nullTest(page)
  assert.ok(peakDb < -130, verdict)
  await assertSound(page)
}

/** What is played equals the stored sound: solo and mute select lanes, and gains scale them. */
async function assertSound(page: Page): Promise<void> {
  const saved = page.waitForEvent('download')
  await page.getByRole('link', { name: /^Download piano/ }).click()
  const download = await saved
  assert.equal(download.suggestedFilename(), 'a song.piano.wav')
  const target = await planesOf(download)
  assert.ok(largestDifference(await saveMix(page), target) <= ROUNDING, 'the target is solo')
  await page.getByRole('button', { name: 'Solo piano' }).click()
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  const mixture = await readWav16(examplePath(SPEECH_OVER_PIANO))
  assert.ok(largestDifference(await saveMix(page), mixture) <= ROUNDING, 'target and residual')
  await page.getByRole('button', { name: 'Mute piano' }).click()
  await page.getByRole('button', { name: 'Mute The rest' }).click()
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  await page.getByLabel('Gain of Mixture in dB').fill('-6')
  const half = mixture.map((plane) => plane.map((x) => x * 10 ** (-6 / 20)))
  assert.ok(largestDifference(await saveMix(page), half) <= ROUNDING, 'the mixture, 6 dB lower')
}

async function spansByMouse(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByText('Where does it sound?').click()
  const waveform = page.getByRole('img', { name: 'Waveform of the source' })
  await waveform.waitFor()
  await drag(page, waveform, 0.25, 0.5)
  await page.getByRole('button', { name: 'It does not' }).click()
  await drag(page, waveform, 0.75, 0.9)
  await page.getByText('Where does it sound? (2)').waitFor()
  await page.getByLabel('Prompt 1').fill('piano')
  const submitted = nextInput<{ spans: { start: number; end: number; include: boolean }[] }>(page)
  await separate(page)
  const [there, absent] = (await submitted).spans
  assert.deepEqual([there!.include, absent!.include], [true, false])
  assert.ok(Math.abs(there!.start - 1.5) < 0.1 && Math.abs(there!.end - 3) < 0.1, 'of six seconds')
  await waitForPlayer(page)
  await page.getByText('Log', { exact: true }).click()
  await page.getByText(/Used 2 given spans/).waitFor()
}

async function twoPrompts(place: Place): Promise<void> {
  const page = await separated(place, 'piano', 'speech')
  for (const lane of ['Mixture', 'piano', 'speech', 'The rest']) {
    await page.getByRole('region', { name: lane, exact: true }).waitFor()
  }
  for (const prompt of ['piano', 'speech']) {
    await page.getByText(new RegExp(`"${prompt}" was found \\(match \\d+ %\\)`)).waitFor()
  }
  await page.getByRole('button', { name: 'Solo piano' }).click() // solo is off: everything but the mixture
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  const mixture = await readWav16(examplePath(SPEECH_OVER_PIANO))
  assert.ok(largestDifference(await saveMix(page), mixture) <= ROUNDING, 'lanes add up')
  await page.reload()
  await page.getByRole('link', { name: /^Download speech/ }).waitFor() // both prompts are still one request
}

async function cancelAndReload(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseLongFile(place, page)
  await separate(page)
  await page.getByText(/^\d+ %, about \d+ (s|min) left/).waitFor()
  await page.reload()
  await page.getByText(/^\d+ %, about \d+ (s|min) left/).waitFor() // it resumes where it was
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByText('Canceled. Nothing was charged.').waitFor()
  await page.getByRole('button', { name: 'New separation' }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'noise' }).first()
  await row.getByText('canceled').waitFor()
  await assertAccessible(page, 'the history')
}

/** Cancels during the upload and during the submit: the form returns, and nothing is separated. */
async function cancelUpload(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  const cancel = page.getByRole('button', { name: 'Cancel', exact: true })
  const formIsBack = async () => {
    await page.getByRole('button', { name: 'Separate', exact: true }).waitFor()
    assert.equal(await page.getByRole('alert').filter({ hasText: /./ }).count(), 0)
  }
  const listed = async () => (await place.winnow.client.list()).data
  const before = await listed()

  const line = await page.context().newCDPSession(page)
  const uploadThroughput = async (bytesPerSecond: number) =>
    line.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytesPerSecond,
    })
  await uploadThroughput(20_000) // the file has 0.5 MB
  const aborted = page.waitForEvent('requestfailed', (request) => request.method() === 'PUT')
  await separate(page)
  await page.waitForFunction(() => document.querySelector('progress')!.value > 0)
  await cancel.click()
  await aborted
  await formIsBack()
  assert.deepEqual(await listed(), before)

  await uploadThroughput(-1)
  const submitting = new Promise<void>((resolve) => {
    void page.route('**/audio/separate', async (route) => {
      resolve()
      await cancel.click()
      await route.continue()
    })
  })
  await separate(page)
  await submitting
  await formIsBack()
  const [newest] = await listed()
  assert.notEqual(newest!.request_id, before[0]?.request_id)
  assert.equal(newest!.error?.code, 'CANCELED', 'what was submitted meanwhile')

  await page.unroute('**/audio/separate')
  await separate(page)
  await waitForPlayer(page)
}

async function historyPlays(place: Place): Promise<void> {
  const path = join(place.winnow.folder, 'short.wav')
  await writeFile(path, wavBytes([noise(0.5, 8_000)], 8_000))
  await place.winnow.client.wait(await submitFile(place.winnow, path, { prompt: 'noise' }))
  const page = await signedIn(place)
  const row = page.getByRole('listitem').filter({ hasText: 'from short.wav' })
  await row.getByRole('button').first().click()
  await waitForPlayer(page)
  assert.equal(await page.getByRole('button', { name: 'Null test' }).isDisabled(), true)
  await page.getByText('The original isn’t in this browser').waitFor()
}

async function badFile(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'no-sound.wav')
  await writeFile(path, 'this is no sound')
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  await page.getByText('INVALID_MEDIA').waitFor()
  await page.getByText('Choose another file, or convert this one to WAV').waitFor()
  await assertAccessible(page, 'a failure')
  await page.getByRole('button', { name: 'New separation' }).click()
  await page.getByText('no-sound.wav, 1 kB').waitFor()
  assert.equal(await page.getByLabel('Prompt 1').inputValue(), 'piano', 'the form is kept')
}

async function keysEnd(place: Place): Promise<void> {
  const { t, winnow, browser } = place
  const created = await post(winnow, '/admin/keys', ADMIN_TOKEN, {
    scopes: ['models:read', 'files:write', 'files:read', 'audio:separate'],
  })
  const { key, key_id: keyId } = (await created.json()) as { key: string; key_id: string }
  const page = await openPage(t, browser, winnow.url)
  await enterKey(page, 'sep_wrong_key')
  await page.getByText('The API key is missing or invalid.').first().waitFor()
  await assertAccessible(page, 'signing in')
  await enterKey(page, key)
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

async function microphone(place: Place): Promise<void> {
  const page = await signedIn(place)
  // A recording that ends at once is empty, or has no sound yet.
  const recorded = await page.evaluateHandle(() => {
    const sounds: Blob[] = []
    const { prototype } = MediaRecorder
    const start = prototype.start
    prototype.start = function () {
      this.addEventListener('dataavailable', ({ data }) => data.size > 0 && sounds.push(data))
      start.call(this, 100)
    }
    return sounds
  })
  await page.getByRole('button', { name: 'Record' }).click()
  await page.waitForFunction((sounds) => sounds.length >= 5, recorded)
  await page.getByRole('button', { name: 'Stop recording' }).click()
  await page.getByText(/recording\.webm/).waitFor()
  await page.getByLabel('Prompt 1').fill('beep')
  await separate(page)
  await waitForPlayer(page) // the service can read what this browser records
}

/** The null test holds even for media whose outputs are lowered, and says by how much. */
async function loudMedia(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'loud.wav')
  const loud = noise(1, 44_100).map((x) => 4 * x)
  await writeFile(path, wavBytes([loud], 44_100, 'float32'))
  await drop(page, path, 'loud.wav')
  await page.getByLabel('Prompt 1').fill('rain')
  await separate(page)
  await waitForPlayer(page)
  const { peakDb, verdict } = await nullTest(page)
  const [, gainDb] = /Mixture, lowered by (\d+\.\d+) dB as they are, /.exec(verdict) ?? []
  assert.ok(Number(gainDb) >= 0.01 && peakDb < -130, verdict)
}

/** Goes from the form to sound without a mouse. */
async function byKeyboard(place: Place): Promise<void> {
  const page = await signedIn(place)
  const tabTo = async (label: string) => {
    const isThere = (label: string) => {
      const { activeElement: element } = document
      const own = element?.getAttribute('aria-label') ?? element?.textContent
      return own?.trim() === label
    }
    for (let presses = 0; !(await page.evaluate(isThere, label)); presses += 1) {
      assert.ok(presses < 60, `${label} is reached by Tab`)
      await page.keyboard.press('Tab')
    }
  }
  await tabTo('speech over piano')
  await page.keyboard.press('Enter')
  await page.getByText(`${SPEECH_OVER_PIANO}, 0.5 MB`).waitFor()
  await tabTo('Prompt 1')
  await page.keyboard.type('piano')
  await page.keyboard.press('Enter')
  await waitForPlayer(page)
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'request')
  await page.getByRole('link', { name: 'Skip to the content' }).focus()
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main')
  assert.match(page.url(), /#request=/, 'a reload shows this request')
  await tabTo('Solo Mixture')
  await page.keyboard.press('Space')
  const solo = page.getByRole('button', { name: 'Solo Mixture' })
  assert.equal(await solo.getAttribute('aria-pressed'), 'true')
  await page.getByLabel('Position in seconds').focus()
  await page.keyboard.press('End')
  await page.getByText('0:06.0 of 0:06.0').waitFor()
}

/** All options reach the service; a removed prompt does not. */
async function allOptions(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await fillPrompts(page, 'dog', 'piano')
  await page.getByRole('button', { name: 'Remove prompt 1' }).click()
  await page.getByText('Options').click()
  await page.getByLabel('Quality').selectOption('fast')
  await page.getByLabel('Format').selectOption('flac')
  await page.getByLabel('Find first where the sound is').check()
  await page.getByLabel('Tries per section; the best is kept').fill('2')
  await page.getByLabel('Longest section, in seconds').fill('4')
  await page.getByLabel('Overlap of sections, in seconds').fill('0.5')
  await page.getByLabel('Overlap of sections, in seconds').blur()
  const submitted = nextInput<Record<string, unknown>>(page)
  await separate(page)
  const { file_id: _of, ...input } = await submitted
  assert.deepEqual(input, {
    prompt: 'piano',
    acceleration: 'fast',
    output_format: 'flac',
    predict_spans: true,
    reranking_candidates: 2,
    max_chunk_duration: 4,
    chunk_overlap: 0.5,
    preview: true,
  })
  await waitForPlayer(page)
  const saved = page.waitForEvent('download')
  await page.getByRole('link', { name: /^Download piano/ }).click()
  assert.equal((await saved).suggestedFilename(), 'speech-over-piano.piano.flac')
}

/** Only a video lets the user choose its audio track. */
async function audioTrack(place: Place): Promise<void> {
  const page = await signedIn(place)
  const path = join(place.winnow.folder, 'film.mkv')
  const track = (seed: number) => ({ planes: [noise(1, 48_000, seed), noise(1, 48_000)] })
  const audio = [1, 2].map((seed) => ({ ...track(seed), sampleRate: 48_000, encoder: 'aac' }))
  await makeMedia(path, 'matroska', { audio, video: { seconds: 1, encoder: 'libx264' } })
  await chooseExample(page)
  await page.getByText('Options').click()
  await page.getByLabel('Overlap of sections, in seconds').waitFor()
  assert.equal(await page.getByLabel('Audio track').count(), 0)
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByLabel('Audio track').fill('2')
  await page.getByLabel('Audio track').blur()
  const submitted = nextInput<Record<string, unknown>>(page)
  await separate(page)
  assert.equal((await submitted).audio_track, 2)
  await waitForPlayer(page)
}

export const form: Cases = {
  'from a dropped file to the null test, sample by sample': fromDropToNullTest,
  'spans drawn with the mouse reach the model': spansByMouse,
  'two prompts give two targets, and lanes that add up': twoPrompts,
  'a request continues after a reload, and can be canceled': cancelAndReload,
  'an upload can be canceled and retried': cancelUpload,
  'an earlier request is reopened': historyPlays,
  'a file that is no media shows a message': badFile,
  'a wrong key is refused, and after a revoked one the page asks for another': keysEnd,
  'a recording of the microphone is a source': microphone,
  'loud media is compared at the level of its outputs': loudMedia,
  'all of it works by keyboard': byKeyboard,
  'all options reach the service': allOptions,
  'the audio track of a video is chosen': audioTrack,
}
