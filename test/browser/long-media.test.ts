/** Two hours of stereo in the player, streamed from a preview by the real service. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Peaks } from '../../clients/typescript/client.ts'
import { chirp, noise } from '../support/media/signals.ts'
import { wavBytes } from '../support/media/wav.ts'
import { launchBrowser } from '../support/page/browser.ts'
import { startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { idOf, waitForPlayer, separate, signedIn } from './playground.ts'

const RATE = 48_000
const LANES = 3
const [HOURS, SEGMENT_SECONDS] = [2, 5]
const SEGMENTS = (HOURS * 3_600) / SEGMENT_SECONDS
const MEMORY_BYTES_MAX = 300e6

/** Where the service keeps a part of its only request. */
function pathOf(winnow: Winnow, address: string): string {
  const [, key] = /\/media\/(outputs\/.+)$/.exec(new URL(address).pathname)!
  return join(winnow.folder, 'media', key!)
}

/**
 * Turns a short result into two hours by repeating its first segment in the media store.
 * @returns the first segment of each lane
 */
async function lengthen(page: Page, winnow: Winnow): Promise<Buffer[]> {
  const requestId = idOf(page)
  const peaks = (await winnow.client.peaks(requestId)) as Required<Peaks>
  const { data } = await winnow.client.result(requestId)
  const previewPath = pathOf(winnow, data.preview_url!)
  const { preview: index } = peaks
  const bytes = await readFile(previewPath)
  const firstBytes = index.bytes.slice(0, LANES)
  const segment = bytes.subarray(
    0,
    firstBytes.reduce((sum, length) => sum + length, 0),
  )
  await writeFile(previewPath, Buffer.concat(Array.from({ length: SEGMENTS }, () => segment)))
  const seconds = HOURS * 3_600
  const long: Peaks = {
    ...peaks,
    preview: {
      ...index,
      samples: seconds * RATE,
      bytes: Array.from({ length: SEGMENTS }, () => firstBytes).flat(),
    },
  }
  await writeFile(previewPath.replace(/preview$/, 'peaks'), JSON.stringify(long))
  let at = 0
  const first = firstBytes.map((length) => segment.subarray(at, (at += length)))
  return first
}

/** Bytes that the page's process holds for itself, without garbage: a busy browser leaves more. */
async function memoryOf(browser: Browser, page: Page): Promise<number> {
  const collector = await page.context().newCDPSession(page)
  await collector.send('HeapProfiler.collectGarbage')
  await collector.detach()
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  const anonymous = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1])
  return Math.max(...anonymous.map((kilobytes) => 1024 * Number(kilobytes ?? 0)))
}

const clockOf = (page: Page) => page.locator('.clock').innerText()

const waitUntilPast = (page: Page, seconds: number) =>
  page.waitForFunction((seconds) => {
    const position = document.querySelector<HTMLInputElement>('[aria-label="Position in seconds"]')
    const now = Number(position?.value ?? NaN) // there may be no player for a moment
    return now >= seconds && now < seconds + 60
  }, seconds)

/** What a browser decodes of the first segment of each lane, to the sample. */
function decodeAll(page: Page, segments: readonly Buffer[]) {
  return page.evaluate(
    async ({ encoded, rate }) => {
      const lanes: Float32Array[] = []
      for (const base64 of encoded) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
        const context = new OfflineAudioContext(1, 1, rate)
        lanes.push((await context.decodeAudioData(bytes.buffer)).getChannelData(0))
      }
      const [mixture, ...outputs] = lanes as [Float32Array, ...Float32Array[]]
      const sum = mixture.map((_, i) => outputs.reduce((all, plane) => all + plane[i]!, 0))
      const inner = mixture.slice(100, -100)
      const lags = Array.from({ length: 101 }, (_, i) => i - 50)
      const products = lags.map((lag) =>
        inner.reduce((all, x, i) => all + x * sum[i + 100 + lag]!, 0),
      )
      const power = Math.sqrt(
        mixture.reduce((all, x) => all + x * x, 0) * sum.reduce((all, x) => all + x * x, 0),
      )
      const most = Math.max(...products)
      return {
        lengths: lanes.map(({ length }) => length),
        lag: lags[products.indexOf(most)],
        correlation: most / power,
      }
    },
    { encoded: segments.map((segment) => segment.toString('base64')), rate: RATE },
  )
}

/** Tells the page the size of its elements late, as a slow device may. */
function delayLayout(): void {
  globalThis.ResizeObserver = class extends ResizeObserver {
    constructor(callback: ResizeObserverCallback) {
      super((...sizes) => void setTimeout(callback, 1_000, ...sizes))
    }
  }
}

test('two hours of stereo play, move, loop, zoom and compare in little memory', async (t) => {
  const browser = await launchBrowser(t)
  // One thread, so that a fast machine is still separating while the beginning is heard.
  const winnow = await startWinnow(t, { engineEnv: { TF_NUM_INTRAOP_THREADS: '1' } })
  await t.test('it is heard from its start before the rest is separated', async (t) => {
    const page = await signedIn({ t, winnow, browser })
    const path = join(winnow.folder, 'long.wav')
    await writeFile(path, wavBytes([noise(120, RATE)], RATE))
    await page.getByLabel('Choose files').setInputFiles(path)
    await page.getByText('Options').click()
    await page.getByLabel('Quality').selectOption('quality')
    await page.getByLabel('Prompt 1').fill('noise')
    await separate(page)
    const live = page.getByLabel('What is separated so far')
    await live.getByText(/The first [\d:]+ of 2:00 can be heard already/).waitFor()
    let refused = ''
    await page.route('**/live/*', async (route) => {
      const range = route.request().headers()['range'] ?? ''
      if (refused || range.startsWith('bytes=0-')) return route.fallback()
      refused = range // the first segment, as if its address had expired
      await route.fulfill({ status: 403 })
    })
    await live.getByRole('button', { name: 'Solo Mixture' }).click()
    await live.getByRole('button', { name: 'Play', exact: true }).click()
    await waitUntilPast(page, 0.5)
    assert.match(refused, /^bytes=\d/)
    await live.getByText(/The first (0:[3-9]|1:)\d/).waitFor() // and more of it
    await page.getByLabel('Position in seconds').fill('115')
    await live.getByText('Not separated yet…').waitFor()
    await waitForPlayer(page)
    await waitUntilPast(page, 116) // it goes on by itself
    await page.getByRole('button', { name: 'Solo Mixture', pressed: true }).waitFor()
    await page.getByRole('button', { name: 'Developers' }).click()
    await page.goBack()
    await waitForPlayer(page)
    const position = page.getByLabel('Position in seconds')
    assert.equal(await position.inputValue(), '0', 'playback does not resume on navigating back')
  })
  const page = await signedIn({ t, winnow, browser })
  const path = join(winnow.folder, 'song.wav')
  const hiss = noise(6, RATE)
  const left = chirp(6, RATE).map((x, i) => x + 0.3 * hiss[i]!)
  await writeFile(path, wavBytes([left, left.map((x) => x / 2)], RATE))
  await page.getByLabel('Choose files').setInputFiles(path)
  await page.getByLabel('Prompt 1').fill('noise')
  await separate(page)
  await waitForPlayer(page)
  const first = await lengthen(page, winnow)

  await t.test('lanes are aligned to the sample', async () => {
    const { lengths, lag, correlation } = await decodeAll(page, first)
    assert.deepEqual(lengths, Array(LANES).fill(SEGMENT_SECONDS * RATE))
    assert.equal(lag, 0)
    assert.ok(correlation > 0.95, `${correlation}`)
  })

  await page.route('**/result', async (route) => {
    const reply = await route.fetch()
    const result = (await reply.json()) as { data: object }
    await route.fulfill({ json: { ...result, data: { ...result.data, duration: 7_200 } } })
  })
  const bytes: number[] = []
  page.on('response', (response) => {
    if (response.url().includes('/preview')) {
      bytes.push(Number(response.headers()['content-length']))
    }
  })
  await page.addInitScript(delayLayout)
  await page.reload()
  await page.getByText('of 2:00:00.0').waitFor()
  const before = await memoryOf(browser, page)
  const memoryReadings: number[] = []
  const recordMemory = async () => memoryReadings.push(await memoryOf(browser, page))

  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await waitUntilPast(page, 0.5)
  assert.ok(bytes[0]! < LANES * SEGMENT_SECONDS * 9_000, `it plays after ${bytes[0]} bytes`)
  for (const seconds of [3_600, 7_100, 17, 5_432.1]) {
    await page.getByLabel('Position in seconds').fill(String(seconds))
    await waitUntilPast(page, seconds + 6) // into the next segment
    await recordMemory()
  }
  await page.getByRole('button', { name: 'A: Mixture' }).click()
  await page.getByRole('button', { name: 'A: Mixture', pressed: true }).waitFor()
  await page.getByRole('button', { name: /^Loop/ }).click()
  await recordMemory()
  await page.getByRole('button', { name: 'Spectrogram' }).click()
  await page.getByText('Zoom in to see the spectrogram').first().waitFor()
  for (let step = 0; step < 12; step += 1) {
    await page.getByRole('button', { name: 'Zoom in' }).click()
  }
  await page.getByText('Zoom in to see the spectrogram').first().waitFor({ state: 'detached' })
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('[aria-label^="Waveform of"] > div')].filter((host) =>
        [...(host.shadowRoot?.querySelectorAll('canvas') ?? [])].some(({ height }) => height > 100),
      ).length === 3,
  )
  await recordMemory()
  const largest = Math.max(...memoryReadings)
  t.diagnostic(
    `memory: ${before / 1e6} MB before, ${memoryReadings.map((x) => Math.round(x / 1e6)).join(', ')} MB`,
  )
  assert.ok(largest < MEMORY_BYTES_MAX, `${largest / 1e6} MB; ${await clockOf(page)}`)
})
