/** Saves separated sounds from the page: in each format, with its picture, and all at once. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Download, Page } from 'playwright-core'
import { openMixture } from '../../../engine/media/read/decode.ts'
import { isVideo } from '../../../engine/media/read/open-media.ts'
import { PacketReader } from '../../../engine/media/read/packet-reader.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import {
  assertAccessible,
  chooseExample,
  largestDifference,
  namesInZip,
  waitForPlayer,
  ROUNDING,
  saveMix,
  separate,
  makeScene,
  separated,
  separatedFile,
  signedIn,
  SPEECH_OVER_PIANO,
  type Cases,
  type Place,
} from '../playground.ts'
import { examplePath, readWav16 } from '../../support/media/examples.ts'
import { makeMedia } from '../../support/media/make-media.ts'
import { concatenate } from '../../support/media/signals.ts'

const LIMITS = { mediaSecondsMax: 60, channelsMax: 2, sampleRate: null }

async function saved(page: Page, name: string, role: 'link' | 'button'): Promise<Download> {
  const download = page.waitForEvent('download')
  await page.getByRole(role, { name, exact: true }).click()
  return download
}

/** Decodes a download; its file has no extension, so its format is read from the bytes. */
async function decode(download: Download) {
  const mixture = await openMixture(await download.path(), LIMITS)
  const blocks: Float32Array[][] = []
  for await (const block of mixture.blocks()) blocks.push(block)
  const planes = blocks[0]!.map((_, c) => concatenate(blocks.map((block) => block[c]!)))
  await mixture.close()
  return { ...mixture, planes, codec: mixture.codec, hasVideo: mixture.hasVideo }
}

async function video(place: Place): Promise<void> {
  const page = await separatedFile(place, await makeScene(place), 'speech')
  for (const [label, name] of [
    ['speech', 'scene.speech.mp4'],
    ['The rest', 'scene.rest.without-speech.mp4'],
  ] as const) {
    const download = await saved(page, `Download ${label} as MP4`, 'link')
    assert.equal(download.suggestedFilename(), name)
    const { codec, hasVideo, planes } = await decode(download)
    assert.deepEqual([codec, hasVideo], ['aac', true])
    assert.ok(Math.abs(planes[0]!.length / 44_100 - 3) < 0.1)
  }
  await assertAccessible(page, 'downloads of a video')

  const zip = await saved(page, 'All as one ZIP', 'button')
  assert.equal(zip.suggestedFilename(), 'scene.speech.zip')
  assert.deepEqual(namesInZip(await zip.path()), [
    ...['scene.speech.wav', 'scene.speech.mp4'],
    ...['scene.rest.without-speech.wav', 'scene.rest.without-speech.mp4'],
  ])
}

/** The page puts its own mix under the service's picture. */
async function videoMixedBack(place: Place): Promise<void> {
  const path = join(place.winnow.folder, 'concert.mp4')
  await makeMedia(path, 'mp4', {
    audio: {
      planes: await readWav16(examplePath(SPEECH_OVER_PIANO)),
      sampleRate: 44_100,
      encoder: 'aac',
    },
    video: { seconds: 6, encoder: 'libx264' },
  })
  const page = await separatedFile(place, path, 'piano')
  const service = await saved(page, 'Download piano as MP4', 'link')
  const [target, rest] = [
    await decode(await saved(page, 'Download piano as WAV', 'link')),
    await decode(await saved(page, 'Download The rest as WAV', 'link')),
  ]
  await page.getByLabel('Strength in percent').fill('50')
  const download = await saved(page, 'Download piano as MP4', 'button')
  assert.equal(download.suggestedFilename(), 'concert.piano.strength-50.mp4')
  const { codec, planes } = await decode(download)
  assert.equal(codec, 'aac')
  const [ofTarget, ofRest] = mixFactors(planes[0]!, target.planes[0]!, rest.planes[0]!)
  assertClose([ofTarget, ofRest], [1, 0.5], { absolute: 0.03 })
  assert.deepEqual(await pictures(download), await pictures(service))
}

/** Returns the factors of two signals whose sum comes closest to `sum`; they must also be aligned. */
function mixFactors(sum: Float32Array, one: Float32Array, other: Float32Array): [number, number] {
  const product = (a: Float32Array, b: Float32Array) =>
    a.reduce((total, x, i) => total + x * (b[i] ?? 0), 0)
  const [aa, ab, bb] = [product(one, one), product(one, other), product(other, other)]
  const [sa, sb] = [product(sum, one), product(sum, other)]
  const determinant = aa * bb - ab * ab
  return [(sa * bb - sb * ab) / determinant, (sb * aa - sa * ab) / determinant]
}

/** Returns the time in milliseconds and the bytes of each picture. */
async function pictures(download: Download): Promise<(string | number)[][]> {
  const reader = await PacketReader.open(await download.path(), isVideo)
  const { num, den } = reader.stream.timeBase
  const read: (string | number)[][] = []
  while (await reader.next()) {
    const { pts, data } = reader.packet
    read.push([Math.round((1_000 * Number(pts) * num) / den), data!.toString('base64')])
  }
  await reader.close()
  return read
}

async function otherFormats(place: Place): Promise<void> {
  const page = await separated(place, 'piano')
  const wav = await decode(await saved(page, 'Download piano as WAV', 'link'))
  const download = await saved(page, 'Download piano as FLAC', 'button')
  assert.equal(download.suggestedFilename(), 'speech-over-piano.piano.flac')
  const flac = await decode(download)
  assert.equal(flac.codec, 'flac')
  assert.equal(largestDifference(flac.planes, wav.planes), 0, 'FLAC has the same samples')
  const mp3 = await saved(page, 'Download The rest as MP3', 'button')
  assert.equal(mp3.suggestedFilename(), 'speech-over-piano.rest.without-piano.mp3')
  const { codec, sampleRate, planes } = await decode(mp3)
  assert.deepEqual([codec, sampleRate], ['mp3', wav.sampleRate])
  assert.ok(Math.abs(planes[0]!.length - wav.planes[0]!.length) < 3_000)

  page.once('dialog', (dialog) => void dialog.accept('Take 1.5, Dr. Meier'))
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: 'Take 1.5, Dr. Meier.wav' }).waitFor()
  await page.locator('a[download="Take 1.5, Dr. Meier.piano.wav"]').waitFor()
  const renamed = await saved(page, 'Download piano as WAV', 'link')
  assert.equal(renamed.suggestedFilename(), 'Take 1.5, Dr. Meier.piano.wav')
}

/** Converts the service's FLAC to WAV, and reports a file that is gone. */
async function fromFlac(place: Place): Promise<void> {
  const page = await signedIn(place)
  await chooseExample(page)
  await page.getByLabel('Prompt 1').fill('piano')
  await page.getByText('Options').click()
  await page.getByLabel('Format').selectOption('flac')
  await separate(page)
  await waitForPlayer(page)
  const flac = await decode(await saved(page, 'Download piano as FLAC', 'link'))
  const wav = await decode(await saved(page, 'Download piano as WAV', 'button'))
  assert.equal(largestDifference(flac.planes, wav.planes), 0)
  await page.route('**/media/outputs/**', (route) => route.fulfill({ status: 404 }))
  await page.getByRole('button', { name: 'Download piano as MP3' }).click()
  await page.getByRole('alert').filter({ hasText: 'speech-over-piano.piano.mp3: ' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'All as one ZIP' }).isEnabled(), true)
}

/** Mixes a part of the rest back in: in what is heard, and in the files that the page makes. */
async function chosenStrength(place: Place): Promise<void> {
  const page = await separated(place, 'piano')
  const target = await decode(await saved(page, 'Download piano as WAV', 'link'))
  const rest = await decode(await saved(page, 'Download The rest as WAV', 'link'))
  await page.getByLabel('Strength in percent').fill('50')
  await page.getByText('50 %: the rest is mixed back, 6 dB softer').waitFor()
  await page.getByText(/^This page makes each file with a strength of 50 %/).waitFor()
  const expected = target.planes.map((plane, c) =>
    plane.map((x, i) => x + 0.5 * rest.planes[c]![i]!),
  )
  assert.ok(largestDifference(await saveMix(page), expected) <= ROUNDING, 'what is heard')
  for (const format of ['WAV', 'FLAC']) {
    const download = await saved(page, `Download piano as ${format}`, 'button')
    const extension = format.toLowerCase()
    const name = `speech-over-piano.piano.strength-50.${extension}`
    assert.equal(download.suggestedFilename(), name)
    const { planes } = await decode(download)
    assert.ok(largestDifference(planes, expected) <= ROUNDING, format)
  }
  await assertAccessible(page, 'half the strength')
  await page.getByRole('button', { name: 'Solo piano' }).click()
  assert.equal(await page.getByLabel('Strength in percent').isDisabled(), true)
  await page.getByRole('button', { name: 'Solo piano' }).click()
  await page.getByLabel('Strength in percent').fill('100')
  await page.getByRole('link', { name: 'Download piano as WAV' }).waitFor()
}

export const downloads: Cases = {
  'a video is saved with its picture, and all as one ZIP': video,
  'a video has the chosen strength': videoMixedBack,
  'the page makes FLAC and MP3 from WAV': otherFormats,
  'the page makes WAV from FLAC, and says what fails': fromFlac,
  'the rest is mixed back by the chosen strength': chosenStrength,
}
