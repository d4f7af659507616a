/** Listening to what was separated, in a real browser with the real service. */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { assertHeard, listen } from '../heard.ts'
import {
  assertAccessible,
  chooseExample,
  drag,
  inputWithoutUpload,
  largestDifference,
  lastsTwoHours,
  namesInZip,
  nullTest,
  waitForPlayer,
  ROUNDING,
  saveMix,
  separate,
  makeScene,
  separated,
  separatedFile,
  separateExample,
  signedIn,
  SPEECH_OVER_PIANO,
  type Cases,
  type Place,
} from '../playground.ts'
import { examplePath, readWav16 } from '../../support/media/examples.ts'
import { concatenate, noise } from '../../support/media/signals.ts'
import { wavBytes } from '../../support/media/wav.ts'

/** The sound goes on, and keys act on it. */
async function playsByKeys(page: Page): Promise<void> {
  await page.keyboard.press('ArrowRight')
  await page.getByText('0:05.0 of 0:06.0').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByText('0:00.0 of 0:06.0').waitFor()
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.waitForFunction(() => !/^0:00\.0/.test(document.querySelector('.clock')!.textContent))
  await page.keyboard.press('l')
  await page.getByRole('button', { name: /^Loop 0:/ }).waitFor()
  await page.keyboard.press('l')
  await page.getByRole('button', { name: 'Loop', exact: true }).waitFor()
  await page.keyboard.press('1')
  const solo = page.getByRole('button', { name: 'Solo Mixture' })
  assert.equal(await solo.getAttribute('aria-pressed'), 'true')
}

/** The mean power of the blocks of 0.4 s that are louder than -70 dB, in dB. */
function loudness(planes: readonly Float32Array[], rate: number): number {
  const block = Math.round(0.4 * rate)
  const powers: number[] = []
  for (let from = 0; from < planes[0]!.length; from += block) {
    const parts = planes.map((plane) => plane.subarray(from, from + block))
    const sum = parts.reduce((all, part) => all + part.reduce((sum, x) => sum + x * x, 0), 0)
    powers.push(sum / parts.length / parts[0]!.length)
  }
  const loud = powers.filter((power) => power > 1e-7)
  return 10 * Math.log10(loud.reduce((a, b) => a + b) / loud.length)
}

async function comparesAtEqualLoudness(page: Page): Promise<void> {
  const isOn = (name: string) => page.getByRole('button', { name, pressed: true }).waitFor()
  await isOn('Your mix')
  await page.keyboard.press('b')
  await isOn('A: Mixture')
  const a = await saveMix(page)
  await page.keyboard.press('b')
  await isOn('B: piano')
  const b = await saveMix(page)
  assert.ok(largestDifference(a, b) > 0.01, 'they are two sounds')
  const [loudA, loudB] = [loudness(a, 44_100), loudness(b, 44_100)]
  assert.ok(Math.abs(loudA - loudB) < 0.05, `${loudA} and ${loudB} dB`)
  await page.keyboard.press('b')
  await isOn('Your mix')
  await page.getByRole('button', { name: 'A: Mixture' }).click()
  await isOn('A: Mixture')
}

/** Lanes that are not heard are dimmed; solo and mute look different, and so do lanes. */
async function showsWhatIsHeard(page: Page): Promise<void> {
  const lane = (name: string) => page.getByRole('region', { name, exact: true })
  const dimmed = async () => {
    const names = ['Mixture', 'piano', 'The rest']
    const opacities = names.map((name) =>
      lane(name)
        .getByRole('img', { name: /^Waveform/ })
        .evaluate((drawn) => getComputedStyle(drawn).opacity),
    )
    return (await Promise.all(opacities)).map((opacity) => Number(opacity) < 1)
  }
  assert.deepEqual(await dimmed(), [true, false, true], 'the target is solo')
  await page.getByRole('button', { name: 'Solo piano' }).click()
  await page.getByRole('button', { name: 'Mute Mixture' }).click()
  assert.deepEqual(await dimmed(), [true, false, false])
  await page.getByRole('button', { name: 'B: piano' }).click()
  assert.deepEqual(await dimmed(), [true, false, true], 'B alone')
  await page.getByRole('button', { name: 'Your mix' }).click()

  const look = (name: string, property: 'backgroundColor' | 'borderLeftColor') =>
    page
      .getByRole(property === 'backgroundColor' ? 'button' : 'region', { name, exact: true })
      .evaluate((element, property) => {
        const head = element.querySelector('.lane-head') ?? element
        return getComputedStyle(head)[property]
      }, property)
  await page.getByRole('button', { name: 'Solo The rest' }).click()
  const backgrounds = await Promise.all([
    look('Solo The rest', 'backgroundColor'),
    look('Mute Mixture', 'backgroundColor'),
    look('Mute The rest', 'backgroundColor'),
  ])
  assert.equal(new Set(backgrounds).size, 3, backgrounds.join(', '))
  const lanes = ['Mixture', 'piano', 'The rest'].map((name) => look(name, 'borderLeftColor'))
  assert.equal(new Set(await Promise.all(lanes)).size, 3, 'each lane has its colour')
  await assertAccessible(page, 'solo and mute')

  await page.emulateMedia({ forcedColors: 'active' })
  const [pressed, other] = ['Solo The rest', 'Solo piano'].map((name) =>
    look(name, 'backgroundColor'),
  )
  assert.notEqual(await pressed, await other, 'high contrast too shows what is pressed')
  const [line, under] = await page.evaluate(() =>
    ['.playhead', '.card'].map(
      (selector) => getComputedStyle(document.querySelector(selector)!).backgroundColor,
    ),
  )
  assert.notEqual(line, under, 'and where it plays')
  await page.emulateMedia({ forcedColors: null })
}

/** Hertz of what is streamed. */
const PREVIEW_RATE = 48_000

/** The mixture as it is heard, but for its coding; interpolated, as its sounds are low. */
async function streamedMixture(): Promise<Float32Array> {
  const [wave] = (await readWav16(examplePath(SPEECH_OVER_PIANO))) as [Float32Array]
  const ratio = 44_100 / PREVIEW_RATE
  return Float32Array.from({ length: Math.floor((wave.length - 1) / ratio) }, (_, i) => {
    const before = Math.floor(i * ratio)
    return wave[before]! + (i * ratio - before) * (wave[before + 1]! - wave[before]!)
  })
}

/** The volume is for listening; ends of the loop are set by keys. */
async function volumeAndLoopByKeys(place: Place): Promise<void> {
  const page = await signedIn(place)
  await listen(page)
  await separateExample(page, 'piano')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press(']')
  await page.getByRole('button', { name: 'Loop 0:00.0 to 0:05.0' }).waitFor()
  await page.getByLabel('Position in seconds').fill('1')
  await page.getByRole('heading', { name: SPEECH_OVER_PIANO }).click()
  await page.keyboard.press('[')
  await page.getByRole('button', { name: 'Loop 0:01.0 to 0:05.0' }).waitFor()
  await page.getByLabel('Loop to, in seconds').fill('4')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Loop 0:01.0 to 0:04.0' }).waitFor()
  await page.getByLabel('Loop to, in seconds').fill('5')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: SPEECH_OVER_PIANO }).click()
  const solo = (name: string, pressed: boolean) =>
    page.getByRole('button', { name: `Solo ${name}`, pressed }).waitFor()
  await page.keyboard.press('3')
  await page.keyboard.press('Shift+Digit1') // added
  await Promise.all([solo('The rest', true), solo('Mixture', true), solo('piano', false)])
  await page.keyboard.press('b') // the comparison decides what is heard
  await Promise.all([solo('The rest', false), solo('Mixture', false)])
  await page.keyboard.press('1') // the mixture alone
  await Promise.all([solo('The rest', false), solo('Mixture', true)])
  await page.getByRole('button', { name: 'Measure it' }).click()
  await page.getByText(/^-\d+\.\d LUFS, true peak -\d+\.\d dBTP$/).waitFor()
  await page.getByLabel('Volume in percent').fill('50')
  await page.getByRole('button', { name: 'Play' }).click()
  const heard = await streamedMixture()
  const [start, end] = [0.9 * PREVIEW_RATE, 5.1 * PREVIEW_RATE] // over the end of a segment
  await assertHeard(page, heard, { start, end, gain: 0.5 })
  const saved = await saveMix(page)
  const whole = await readWav16(examplePath(SPEECH_OVER_PIANO))
  assert.ok(largestDifference(saved, whole) <= ROUNDING, 'what is saved keeps its level')
}

/** On a phone the playback is within reach wherever one scrolls. */
async function staysOnPhones(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 700 })
  await page.getByRole('button', { name: 'Save this mix' }).scrollIntoViewIfNeeded()
  await page.mouse.wheel(0, 10_000)
  await page.waitForFunction(
    () => scrollY + innerHeight >= document.documentElement.scrollHeight - 1,
  )
  const play = page.getByRole('button', { name: 'Play', exact: true })
  const { y } = (await play.boundingBox())!
  assert.ok(y >= 0 && y < 100, `${y}`)
  await page.setViewportSize({ width: 1_600, height: 900 })
  const { width } = (await page.getByRole('img', { name: 'Waveform of piano' }).boundingBox())!
  assert.ok(width > 1_200, `it is as wide as the window: ${width} pixels`)
}

const positionOf = (page: Page) => page.getByLabel('Position in seconds').inputValue().then(Number)

/** The ruler names times; a press or drag on any lane moves the one playhead over all. */
async function seeksOnLanes(page: Page): Promise<void> {
  const ruler = page.locator('.ruler')
  await ruler.filter({ hasText: /^0:00.+0:03.+0:05/ }).waitFor() // drawn once it has a width
  const lane = page.getByRole('img', { name: 'Waveform of The rest' })
  await lane.scrollIntoViewIfNeeded()
  const { x, y, width } = (await lane.boundingBox())!
  await page.mouse.click(x + width / 2, y + 5)
  await page.waitForFunction(() =>
    /^0:(02.9|03.[01])/.test(document.querySelector('.clock')!.textContent),
  )
  await drag(page, page.getByRole('img', { name: 'Waveform of Mixture' }), 0.2, 0.75)
  await page.waitForFunction(() =>
    /^0:04.[456]/.test(document.querySelector('.clock')!.textContent),
  )
  assert.equal(await page.getByRole('button', { name: 'Loop', exact: true }).count(), 1, 'no loop')
  const head = (await page.locator('.playhead').boundingBox())!
  assert.ok(Math.abs(head.x - (x + 0.75 * width)) < 0.03 * width, 'the playhead is there')
  const lanes = page.locator('.lane')
  const [first, last] = [(await lanes.first().boundingBox())!, (await lanes.last().boundingBox())!]
  assert.ok(head.y < first.y && head.y + head.height >= last.y + last.height - 20, 'over all lanes')
  await drag(page, ruler, 0.5, 0.5)
  assert.ok(Math.abs((await positionOf(page)) - 3) < 0.15, 'a press on the ruler')
}

/** Draws a loop on the ruler, which is played as the lanes are set. */
async function loopsWhatIsDrawn(place: Place): Promise<void> {
  const page = await signedIn(place)
  await listen(page)
  await separateExample(page, 'piano')
  await drag(page, page.locator('.ruler'), 0.5, 0.6)
  await page.getByRole('button', { name: /^Loop 0:0[23]\.\d to 0:03\.\d$/ }).waitFor()
  await page.getByRole('button', { name: 'Play' }).click()
  let [wraps, before] = [0, 0]
  while (wraps < 2) {
    const position = await positionOf(page)
    assert.ok(position >= 2.9 && position <= 3.7, `${position} s is within the loop`)
    if (position < before) wraps += 1
    before = position
  }
  const mixture = await streamedMixture()
  const section = { start: 2.9 * PREVIEW_RATE, end: 3.7 * PREVIEW_RATE }
  await page.keyboard.press('1') // the mixture alone
  await assertHeard(page, mixture, { ...section, gain: 1 })
  await page.getByLabel('Gain of Mixture in dB').fill('-6')
  await assertHeard(page, mixture, { ...section, gain: 10 ** (-6 / 20) })
}

/** All lanes are as wide and show the same time. */
async function zoomsAllLanes(page: Page): Promise<void> {
  for (let press = 0; press < 3; press += 1) {
    await page.getByRole('button', { name: 'Zoom in' }).click()
  }
  await page.waitForFunction(() => {
    const wide = [...document.querySelectorAll('.waveform > div')].filter(({ shadowRoot }) => {
      const { scrollWidth, clientWidth } = shadowRoot!.querySelector('.scroll')!
      return scrollWidth > 2 * clientWidth
    })
    return wide.length === 3
  })
  await page.evaluate(() => {
    document.querySelector('.waveform > div')!.shadowRoot!.querySelector('.scroll')!.scrollLeft = 90
  })
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.waveform > div')].every(
      ({ shadowRoot }) => Math.abs(shadowRoot!.querySelector('.scroll')!.scrollLeft - 90) < 8,
    ),
  )
}

/** A picture is drawn in every lane, in which not all is of one colour. */
async function drawsSpectrograms(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Spectrogram' }).click()
  await page.waitForFunction(() => {
    const hosts = [...document.querySelectorAll('.waveform > div')]
    return hosts.every(({ shadowRoot }) =>
      [...shadowRoot!.querySelectorAll('canvas')].some((canvas) => {
        if (canvas.width === 0 || canvas.height === 0) return false
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height)
        return new Set(new Uint32Array(data.buffer)).size > 50
      }),
    )
  })
}

async function showsPredictedSpans(place: Place): Promise<void> {
  const page = await signedIn(place)
  await page.getByRole('button', { name: 'siren and speech', exact: true }).click()
  await page.getByLabel('Prompt 1').fill('siren')
  await page.getByText('Options').click()
  await page.getByLabel('Find first where the sound is').check()
  await separate(page)
  await waitForPlayer(page)
  await page.getByText(/"siren" was found \(match \d+ %\)/).waitFor()
  const regions = (lane: string) =>
    page.evaluate((lane) => {
      const host = document.querySelector(`section[aria-label="${lane}"] .waveform > div`)
      return host!.shadowRoot!.querySelectorAll('[part~="region"]').length
    }, lane)
  await page.waitForFunction(() => {
    const host = document.querySelector('section[aria-label="Mixture"] .waveform > div')
    return host?.shadowRoot?.querySelector('[part~="region"]')
  })
  assert.ok((await regions('Mixture')) > 0)
  assert.equal(await regions('siren'), 0)
}

async function losslessAddsUp(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByText('Options').click()
  await page.getByLabel('Format').selectOption('flac')
  await separate(page)
  await waitForPlayer(page)
  const { peakDb, verdict } = await nullTest(page)
  assert.ok(peakDb < -85, `this browser decodes FLAC: ${verdict}`)
}

/** The picture of a video is on the clock of the sound. */
async function showsThePicture(place: Place): Promise<void> {
  const page = await separatedFile(place, await makeScene(place), 'noise')
  const video = page.getByLabel('Picture of the source')
  await page.waitForFunction(() => (document.querySelector('video')?.videoWidth ?? 0) > 0)
  assert.deepEqual(
    await video.evaluate((element: HTMLVideoElement) => [element.videoWidth, element.muted]),
    [64, true],
  )
  await page.getByLabel('Position in seconds').fill('2')
  await page.waitForFunction(() => Math.abs(document.querySelector('video')!.currentTime - 2) < 0.2)
  await page.getByRole('button', { name: 'Play' }).click()
  await page.waitForFunction(() => {
    const { played } = document.querySelector('video')!
    return played.length > 0 && played.end(played.length - 1) > 2.4 // not just moved there
  })
  await assertAccessible(page, 'a video')
}

/** Media that is too long to be decoded in a page, without a preview: half a sound, half silence. */
async function longMedia(place: Place): Promise<void> {
  const RATE = 44_100
  const path = join(place.winnow.folder, 'half.wav')
  const half = concatenate([noise(2, RATE), new Float32Array(2 * RATE)])
  await writeFile(path, wavBytes([half], RATE))
  const page = await signedIn(place)
  await lastsTwoHours(page)
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByLabel('Prompt 1').fill('piano')
  await separate(page)
  const rest = page.getByRole('img', { name: 'Waveform of The rest' })
  await rest.waitFor()
  await page.getByRole('button', { name: /^What was found of piano: \w/ }).waitFor()
  await assertAccessible(page, 'long media')
  await drawsByPeaks(page, rest)
  await playsOneAtATime(page)
  await savesOneZip(page, place)
  await page.getByRole('button', { name: 'Separate further: The rest' }).click()
  await page.getByLabel('Prompt 1').fill('wind')
  assert.equal(await page.getByText('Where does it sound?').count(), 0, 'nothing to draw on')
  const { prompt, output } = await inputWithoutUpload(page, () => separate(page))
  assert.deepEqual([prompt, output], ['wind', 'residual'])
  await page.getByRole('heading', { name: 'half.rest.without-piano.wav' }).waitFor()
}

async function drawsByPeaks(page: Page, rest: Locator): Promise<void> {
  assert.equal(await page.locator('audio').count(), 2)
  assert.equal(await page.getByRole('img', { name: /^Waveform of/ }).count(), 2)
  const [loud = 0, silent = 0] = await page.evaluate(() => {
    const host = document.querySelector('[aria-label="Waveform of The rest"] > div')!
    const canvas = host.shadowRoot!.querySelector('canvas')!
    const half = Math.floor(canvas.width / 2)
    return [0, half].map((from) => {
      const { data } = canvas.getContext('2d')!.getImageData(from, 0, half, canvas.height)
      return data.filter((alpha, i) => i % 4 === 3 && alpha > 0).length // inked
    })
  })
  assert.ok(loud > 10 * silent, `the loud half is drawn: ${loud} and ${silent} pixels`)
  await rest.click()
  await page.waitForFunction(() => {
    const [audio] = [...document.querySelectorAll('audio')].slice(-1)
    return Math.abs(audio!.currentTime - 2) < 0.2 // the middle, where it was clicked
  })
}

async function playsOneAtATime(page: Page): Promise<void> {
  const [target, residual] = [page.locator('audio').first(), page.locator('audio').last()]
  const play = (audio: Locator) => audio.evaluate((one: HTMLAudioElement) => one.play())
  await play(residual)
  await play(target)
  const isPaused = await residual.evaluate((audio: HTMLAudioElement) => audio.paused)
  const time = await target.evaluate((audio: HTMLAudioElement) => audio.currentTime)
  assert.ok(isPaused && time > 1.8, `one at a time, which goes on at ${time} s`)
}

interface Picker {
  asked: { suggestedName: string }[]
}

/** The ZIP streams to the chosen file, and is never held in memory. */
async function savesOneZip(page: Page, place: Place): Promise<void> {
  await page.evaluate(() => {
    const asked: object[] = []
    Object.assign(globalThis, {
      asked,
      async showSaveFilePicker(options: object) {
        asked.push(options)
        const folder = await navigator.storage.getDirectory()
        return folder.getFileHandle('all.zip', { create: true })
      },
    })
  })
  await page.getByRole('button', { name: 'All as one ZIP' }).click()
  await page.waitForFunction(() => {
    const { asked } = globalThis as unknown as Picker
    return asked.length > 0 && !document.querySelector('.downloads progress')
  })
  const [asked, bytes] = await page.evaluate(async () => {
    const folder = await navigator.storage.getDirectory()
    const file = await (await folder.getFileHandle('all.zip')).getFile()
    const { asked } = globalThis as unknown as Picker
    return [asked, [...new Uint8Array(await file.arrayBuffer())]] as const
  })
  assert.deepEqual(asked, [{ suggestedName: 'half.piano.zip' }])
  const path = join(place.winnow.folder, 'all.zip')
  await writeFile(path, new Uint8Array(bytes))
  assert.equal(namesInZip(path).length, 2)
}

/** What listeners do with an example; a reload puts everything back. */
const LISTENING: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'it plays, moves and loops by keys': playsByKeys,
  'A and B are equally loud': comparesAtEqualLoudness,
  'what is heard is seen': showsWhatIsHeard,
  'press and drag on lanes move the one playhead': seeksOnLanes,
  'zoom and scroll are those of all lanes': zoomsAllLanes,
  'spectrograms are drawn': drawsSpectrograms,
  'it stays on phones, and is wide elsewhere': staysOnPhones,
}

async function listening(place: Place): Promise<void> {
  const page = await separated(place, 'piano')
  for (const [name, step] of Object.entries(LISTENING)) {
    await place.t.test(name, () => step(page))
    await page.reload()
    await waitForPlayer(page)
  }
}

export const player: Cases = {
  'listening to an example': listening,
  'volume, and a loop by keys': volumeAndLoopByKeys,
  'a loop is drawn with the mouse': loopsWhatIsDrawn,
  'predicted spans and the match are shown': showsPredictedSpans,
  'lanes of FLAC add up': losslessAddsUp,
  'a video has its picture': showsThePicture,
  'long media is drawn by peaks, saved and separated further': longMedia,
}
