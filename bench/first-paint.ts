/**
 * Question: how soon does a browser paint the playground, and how much does it load for that?
 *
 * `node --import tsx bench/first-paint.ts`: starts gateway and nats-server, and opens the page in
 * Chromium with an empty cache, in turns on this machine's loopback and on a line of 10 Mbit/s with
 * 40 ms of delay and a processor four times slower, as a phone has. One JSON line each: first
 * contentful paint, and the form on the page (quartiles), and the bytes that came, compressed.
 */

import type { Page } from 'playwright-core'
import { launchBrowser } from '../test/support/page/browser.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { API_KEY, startWinnow } from '../test/support/processes/start-winnow.ts'
import { quantile, report, round } from './report.ts'

const TURNS = 15
const LINES = {
  loopback: null,
  phone: { bitsPerSecond: 10_000_000, latencyMs: 40, slower: 4 },
} as const

interface Visit {
  paintMs: number
  formMs: number
  bytes: number
}

/** An entry of the browser's timeline, whose types Node has not. */
interface Entry {
  name: string
  startTime: number
  transferSize?: number
}

const scope = createScope()
const winnow = await startWinnow(scope, { engines: 0 })
const browser = await launchBrowser(scope)
const visits = { loopback: [] as Visit[], phone: [] as Visit[] }
for (let turn = 0; turn < TURNS; turn += 1) {
  for (const line of ['loopback', 'phone'] as const) visits[line].push(await visit(line))
}
for (const [line, all] of Object.entries(visits)) {
  report('first-paint', {
    line,
    paint_ms: quartiles(all.map(({ paintMs }) => paintMs)),
    form_ms: quartiles(all.map(({ formMs }) => formMs)),
    bytes: Math.max(...all.map(({ bytes }) => bytes)),
    n: TURNS,
  })
}
await scope.end()

async function visit(line: keyof typeof LINES): Promise<Visit> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await slowDown(page, line)
  const { code } = (await (
    await fetch(`${winnow.url}/playground/codes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
    })
  ).json()) as { code: string }
  await page.goto(`${winnow.url}/#code=${code}`)
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
  const formMs = await page.evaluate(() => performance.now())
  const { paintMs, bytes } = await page.evaluate(() => {
    const entries = performance.getEntries() as unknown as Entry[]
    const paint = entries.find(({ name }) => name === 'first-contentful-paint')!
    const sizes = entries.map(({ transferSize = 0 }) => transferSize)
    return { paintMs: paint.startTime, bytes: sizes.reduce((a, b) => a + b, 0) }
  })
  await context.close()
  return { paintMs, formMs, bytes }
}

async function slowDown(page: Page, line: keyof typeof LINES): Promise<void> {
  const limits = LINES[line]
  if (!limits) return
  const devtools = await page.context().newCDPSession(page)
  const throughput = limits.bitsPerSecond / 8
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: limits.latencyMs,
    downloadThroughput: throughput,
    uploadThroughput: throughput,
  })
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: limits.slower })
}

function quartiles(values: readonly number[]) {
  const [lower, median, upper] = [0.25, 0.5, 0.75].map((share) => round(quantile(values, share)))
  return { lower, median, upper }
}
