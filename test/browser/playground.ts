/** Steps for tests of the page at `/`. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Browser, Download, Locator, Page, Request } from 'playwright-core'
import { accessibilityProblems, CONTRAST, fillPrompts, openPage } from '../support/page/browser.ts'
import { makeMedia } from '../support/media/make-media.ts'
import { noise } from '../support/media/signals.ts'
import { API_KEY, type Winnow } from '../support/processes/start-winnow.ts'
import { readWav24, wavBytes } from '../support/media/wav.ts'

export const SPEECH_OVER_PIANO = 'speech-over-piano.wav'

/** Longer than the file of `chooseLongFile`. */
export const MEDIA_SECONDS_MAX = 250

export interface Place {
  t: TestContext
  winnow: Winnow
  browser: Browser
}

/** What is tested on a page, by its title. */
export type Cases = Readonly<Record<string, (place: Place) => Promise<void>>>

export const post = (winnow: Winnow, path: string, token: string, body?: object) =>
  fetch(`${winnow.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })

/** Makes a one-time code that signs a page in. */
export async function codeOf(winnow: Winnow): Promise<string> {
  const reply = await post(winnow, '/playground/codes', API_KEY)
  return ((await reply.json()) as { code: string }).code
}

/** Opens a page that is signed in with a one-time code. */
export async function signedIn({ t, winnow, browser }: Place): Promise<Page> {
  const page = await openPage(t, browser, `${winnow.url}/#code=${await codeOf(winnow)}`)
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the code has left the address')
  return page
}

/** Resolves once the page has drawn what it has, and run what it does after that. */
export const untilDrawn = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise<void>((done) => requestAnimationFrame(() => setTimeout(done))))

/** Drops a file, as from the desktop. */
export async function drop(page: Page, path: string, name: string): Promise<void> {
  await untilDrawn(page) // then it listens
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

export async function chooseExample(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'speech over piano', exact: true }).click()
  await page.getByText(`${SPEECH_OVER_PIANO}, 0.5 MB`).waitFor()
}

/** Separates an example, and waits for its player. */
export async function separateExample(page: Page, ...prompts: string[]): Promise<void> {
  await chooseExample(page)
  await fillPrompts(page, ...prompts)
  await separate(page)
  await waitForPlayer(page)
}

/** Opens a page that is signed in, and separates an example on it. */
export async function separated(place: Place, ...prompts: string[]): Promise<Page> {
  const page = await signedIn(place)
  await separateExample(page, ...prompts)
  return page
}

/** Opens a page that is signed in, and separates a file on it. */
export async function separatedFile(place: Place, path: string, prompt: string): Promise<Page> {
  const page = await signedIn(place)
  await page.getByLabel('Choose files').setInputFiles(path)
  await fillPrompts(page, prompt)
  await separate(page)
  await waitForPlayer(page)
  return page
}

/** Makes a video of three seconds, `scene.mp4`, and returns its path. */
export async function makeScene({ winnow }: Place): Promise<string> {
  const path = join(winnow.folder, 'scene.mp4')
  await makeMedia(path, 'mp4', {
    audio: { planes: [noise(3, 44_100)], sampleRate: 44_100, encoder: 'aac' },
    video: { seconds: 3, encoder: 'libx264' },
  })
  return path
}

/** Chooses a file that takes an engine a good while. */
export async function chooseLongFile({ winnow }: Place, page: Page, seconds = 240): Promise<void> {
  const path = join(winnow.folder, 'long.wav')
  await writeFile(path, wavBytes([noise(seconds, 8_000)], 8_000))
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByText('Options').click()
  await page.getByLabel('Quality').selectOption('quality')
  await page.getByLabel('Tries per section; the best is kept').fill('2')
  await page.getByLabel('Prompt 1').fill('noise')
}

/** Makes all later results too long to decode in the page, and without a preview. */
export const lastsTwoHours = (page: Page) =>
  page.route('**/result', async (route) => {
    const reply = await route.fetch()
    const result = (await reply.json()) as { data: object }
    const data = { ...result.data, duration: 7_200, preview_url: undefined }
    await route.fulfill({ json: { ...result, data } })
  })

/** Returns the id of the request that the page shows. */
export const idOf = (page: Page) => new URL(page.url()).hash.replace('#request=', '')

/** Resolves with the `input` of the next request that the page submits. */
export async function nextInput<T extends object>(page: Page): Promise<T> {
  const submission = await page.waitForRequest((request) =>
    request.url().endsWith('/audio/separate'),
  )
  return (submission.postDataJSON() as { input: T }).input
}

/** Returns the `input` that the page submits during `act`; asserts that it uploads nothing. */
export async function inputWithoutUpload(
  page: Page,
  act: () => Promise<void>,
): Promise<Record<string, unknown>> {
  const uploads: string[] = []
  const note = (request: Request) => {
    if (request.method() === 'PUT') uploads.push(request.url())
  }
  page.on('request', note)
  const submission = nextInput<Record<string, unknown>>(page)
  await act()
  const input = await submission
  page.off('request', note)
  assert.deepEqual(uploads, [])
  return input
}

export const separate = (page: Page) =>
  page.getByRole('button', { name: 'Separate', exact: true }).click()

/** Waits until the player is there, hears keys and knows its width. */
export async function waitForPlayer(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Null test' }).waitFor()
  await page.locator('.ruler span').first().waitFor()
}

/** Presses at a part of the width, and drags to another. */
export async function drag(page: Page, on: Locator, from: number, to: number): Promise<void> {
  await on.scrollIntoViewIfNeeded()
  const { x, y, width, height } = (await on.boundingBox())!
  await page.mouse.move(x + from * width, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + to * width, y + height / 2, { steps: 8 })
  await page.mouse.up()
}

/** Presses the null test; returns what it says, and the peak that it names; of silence -Infinity. */
export async function nullTest(page: Page): Promise<{ verdict: string; peakDb: number }> {
  await page.getByRole('button', { name: 'Null test' }).click()
  const verdict = await page.getByText(/peaks at|digital silence/).innerText()
  return { verdict, peakDb: Number(/peaks at (-\d+\.\d) dB/.exec(verdict)?.[1] ?? -Infinity) }
}

export async function planesOf(download: Download): Promise<Float32Array[]> {
  return readWav24(await readFile(await download.path())).planes
}

export async function saveMix(page: Page): Promise<Float32Array[]> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save this mix' }).click()
  return planesOf(await saved)
}

/** Lists the files in a ZIP with an independent program, which also reads each of them. */
export function namesInZip(path: string): string[] {
  const list =
    'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(*z.namelist())'
  return execFileSync('python3', ['-c', list, path], { encoding: 'utf8' }).trim().split(' ')
}

/** Returns the largest difference between two signals. */
export function largestDifference(
  one: readonly Float32Array[],
  other: readonly Float32Array[],
): number {
  assert.equal(one.length, other.length)
  assert.equal(one[0]!.length, other[0]!.length)
  return Math.max(
    ...one.map((plane, c) =>
      plane.reduce((most, x, i) => Math.max(most, Math.abs(x - other[c]![i]!)), 0),
    ),
  )
}

/** Error of 24-bit samples that are rounded twice. */
export const ROUNDING = 2 ** -22

/** Checks the page at its current width and at 320 pixels, in light and dark. */
export async function assertAccessible(page: Page, state: string): Promise<void> {
  const size = page.viewportSize()!
  for (const width of [size.width, 320]) {
    await page.setViewportSize({ ...size, width })
    const needed = await page.evaluate(() => document.documentElement.scrollWidth)
    assert.equal(needed, width, `${state} fits a screen of ${width} pixels`)
    for (const [colorScheme, rules] of [
      ['light', {}],
      ['dark', CONTRAST],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      const where = `${state}, ${colorScheme}, ${width} pixels wide`
      assert.deepEqual(await accessibilityProblems(page, rules), [], where)
    }
  }
  await page.setViewportSize(size)
}
