/** The site of the documents in a real browser, served by a gateway, as set-up builds it. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import test, { before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startGateway } from '../support/start-gateway.ts'
import { accessibilityProblems, launchBrowser, openPage } from './browser.ts'

const SITE = fileURLToPath(new URL('../../.runtime/docs', import.meta.url))
const PHONE = { width: 390, height: 844 }
/** Redoc's own: the order of its headings, and boxes that scroll. */
const OF_REDOC = /^(heading-order|scrollable-region-focusable)/

let browser: Browser
let url: string
before(async (t) => {
  browser = await launchBrowser(t as TestContext)
  const { app } = await startGateway(t as TestContext, { config: { docsFolder: SITE } })
  url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/docs`
})

/** A page whose calls of other hosts, errors and refusals by its policy fail the test. */
async function open(t: TestContext, address: string): Promise<Page> {
  const page = await openPage(t, browser, `${url}/`)
  const problems: string[] = []
  page.on('request', (request) => {
    const isOurs =
      /^(data|blob):/.test(request.url()) || request.url().startsWith(new URL(url).origin)
    if (!isOurs) problems.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  t.after(() => assert.deepEqual(problems, []))
  await page.goto(`${url}/${address}`)
  return page
}

test('every link and picture of every page leads to a part of the site', async (t) => {
  const pages = readdirSync(SITE, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.html'))
  assert.ok(pages.length > 70, `${pages.length} pages`)
  const page = await open(t, '')
  const broken = await page.evaluate(async (names) => {
    const documents = new Map<string, Document>()
    const parser = new DOMParser()
    for (const name of names) {
      const text = await (await fetch(name)).text()
      documents.set(new URL(name, location.href).href, parser.parseFromString(text, 'text/html'))
    }
    const lost: string[] = []
    const seen = new Map<string, boolean>()
    for (const [address, document] of documents) {
      for (const element of document.querySelectorAll('[href], [src]')) {
        const link = element.getAttribute('href') ?? element.getAttribute('src')!
        const target = new URL(link, address)
        if (target.origin !== location.origin) continue
        const [place = '', anchor] = target.href.split('#')
        if (!seen.has(place)) seen.set(place, documents.has(place) || (await fetch(place)).ok)
        const isThere =
          seen.get(place)! && (!anchor || documents.get(place)?.getElementById(anchor))
        if (!isThere) lost.push(`${address}: ${link}`)
      }
    }
    return lost
  }, pages)
  assert.deepEqual(broken, [])
})

test('search finds a section, and its link leads there', async (t) => {
  const page = await open(t, 'guides/podcast')
  await page.getByRole('searchbox').fill('dashboard alerts')
  const found = page.getByRole('link', { name: 'Dashboard and alerts' })
  await found.click()
  await page.waitForURL(/operations\.html#dashboard-and-alerts/)
})

test('diagrams are drawn in the page', async (t) => {
  const page = await open(t, 'architecture')
  assert.ok((await page.locator('.diagram svg text').count()) > 5)
})

test('sounds can be played', async (t) => {
  const page = await open(t, 'quality')
  const lengths = await page.evaluate(async () => {
    const players = [...document.querySelectorAll('audio')]
    return Promise.all(
      players.map(async (player) => {
        player.muted = true
        await player.play()
        return player.duration
      }),
    )
  })
  assert.equal(lengths.length, 12)
  for (const seconds of lengths) assert.ok(seconds > 4 && seconds < 7, `${seconds} s`)
})

test('the API reference shows the description of this gateway, in the colours of the reader', async (t) => {
  const page = await open(t, 'api-reference')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme }) // the page that is open follows
    await page.waitForFunction(() => {
      const [text, drawn] = [document.body, document.querySelector('#reference h1')]
      return drawn && getComputedStyle(drawn).color === getComputedStyle(text).color
    })
    await page.getByText('webhookSecret').first().waitFor({ state: 'attached' })
    const problems = await accessibilityProblems(page)
    assert.deepEqual(
      problems.filter((problem) => !OF_REDOC.test(problem)),
      [],
      colorScheme,
    )
  }
  const isCovered = await page.evaluate(() => {
    scrollTo(0, 3_000)
    const header = document.querySelector('header')!
    return Array.from({ length: innerWidth / 10 }, (_, i) => 10 * i).filter(
      (x) => !header.contains(document.elementFromPoint(x, header.clientHeight / 2)),
    )
  })
  assert.deepEqual(isCovered, [], 'nothing is drawn over the header')
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`pages are accessible, also on a phone: ${colorScheme}`, async (t) => {
    const page = await open(t, '')
    await page.emulateMedia({ colorScheme })
    for (const address of ['', 'architecture', 'operations', 'quality', 'guides/migrate']) {
      await page.setViewportSize({ width: 1_100, height: 860 })
      await page.goto(`${url}/${address}`)
      assert.deepEqual(await accessibilityProblems(page), [], address)
      await page.setViewportSize(PHONE)
      assert.deepEqual(await accessibilityProblems(page), [], `${address} on a phone`)
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
      assert.equal(isWide, false, `${address} does not fit a phone`)
    }
  })
}
