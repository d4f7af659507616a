/** The documentation site in a real browser, served by a gateway, as set-up builds it. */

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import test, { before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startGateway } from '../support/gateway/start-gateway.ts'
import {
  accessibilityProblems,
  CONTRAST,
  launchBrowser,
  openPage,
} from '../support/page/browser.ts'

const SITE = fileURLToPath(new URL('../../.runtime/docs', import.meta.url))
const PAGES = readdirSync(SITE, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.html'))
const REFERENCE = 'reference/api.html'
/** Problems of Redoc itself: the order of its headings, and scrollable boxes. */
const OF_REDOC = /^(heading-order|scrollable-region-focusable)/

let browser: Browser
let url: string
before(async (t) => {
  browser = await launchBrowser(t as TestContext)
  const { app } = await startGateway(t as TestContext, { config: { docsFolder: SITE } })
  url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/docs`
})

/** Widths of a phone and of a window on a desktop. */
const WIDTHS = [320, 1_100]

const COLORS = [
  ['light', {}],
  ['dark', CONTRAST],
] as const

async function assertFits(page: Page, address: string, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 860 })
  const needed = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.equal(needed, width, `${address} fits ${width} pixels`)
}

async function assertAccessible(page: Page, address: string, rules = {}): Promise<void> {
  const problems = await accessibilityProblems(page, rules)
  const ours = problems.filter((found) => address !== REFERENCE || !OF_REDOC.test(found))
  assert.deepEqual(ours, [], address)
}

/** Opens a page; calls to other hosts, errors and violations of its policy fail the test. */
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

test('every link and picture of every page leads to something on the site', async (t) => {
  assert.ok(PAGES.length > 70, `${PAGES.length} pages`)
  const page = await open(t, '')
  const broken = await page.evaluate(async (names) => {
    const documents = new Map<string, Document>()
    const parser = new DOMParser()
    for (const name of names) {
      const text = await (await fetch(name)).text()
      documents.set(new URL(name, location.href).href, parser.parseFromString(text, 'text/html'))
    }
    const site = new URL('.', location.href).href
    const lost: string[] = []
    const seen = new Map<string, boolean>()
    for (const [address, document] of documents) {
      for (const element of document.querySelectorAll('[href]:not(.way-back), [src]')) {
        const link = element.getAttribute('href') ?? element.getAttribute('src')!
        const target = new URL(link, address)
        if (target.origin !== location.origin) continue
        const moved = new URL(link, address.replace(site, `${location.origin}/elsewhere/`))
        if (!moved.pathname.startsWith('/elsewhere/'))
          lost.push(`${address}: ${link} is none on another server`)
        const [place = '', anchor] = target.href.split('#')
        if (!seen.has(place)) seen.set(place, documents.has(place) || (await fetch(place)).ok)
        const isThere =
          seen.get(place)! && (!anchor || documents.get(place)?.getElementById(anchor))
        if (!isThere) lost.push(`${address}: ${link}`)
      }
    }
    return lost
  }, PAGES)
  assert.deepEqual(broken, [])
})

test('search says when it finds nothing, and the link of a found section leads there', async (t) => {
  const page = await open(t, 'how-to/podcast')
  await page.getByRole('searchbox').fill('qwertzuiop')
  await page.getByText('Nothing found.').waitFor()
  await page.getByRole('searchbox').fill('prometheus grafana')
  const found = page.getByRole('link', { name: 'Set up Prometheus and Grafana' })
  await found.click()
  await page.waitForURL(/monitor\.html#set-up-prometheus-and-grafana/)
})

test('code is copied as its block shows it', async (t) => {
  const page = await open(t, 'start')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const block = page.locator('.code').nth(1)
  await block.getByRole('button', { name: 'Copy' }).click()
  await block.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  assert.equal(copied, await block.locator('code').textContent())
})

test('the menu is folded on a phone, and opens', async (t) => {
  const page = await open(t, 'explain/quality')
  const link = page.getByRole('navigation').getByRole('link', { name: 'The page' })
  await link.waitFor()
  await page.setViewportSize({ width: 320, height: 700 })
  await link.waitFor({ state: 'hidden' })
  await page.getByText('Documents', { exact: true }).click()
  await link.click()
  await page.waitForURL(/playground\.html$/)
})

test('diagrams are drawn, and sounds can be played', async (t) => {
  const page = await open(t, 'explain/architecture')
  assert.ok((await page.locator('.diagram svg text').count()) > 5)
  await page.goto(`${url}/explain/quality`)
  const sounds = await page.evaluate(async () => {
    const players = [...document.querySelectorAll('audio')]
    return Promise.all(
      players.map(async (player) => {
        player.muted = true
        await player.play()
        return { seconds: player.duration, source: player.currentSrc }
      }),
    )
  })
  assert.equal(new Set(sounds.map(({ source }) => source)).size, 12, 'each is another')
  for (const { seconds } of sounds) assert.ok(seconds > 4 && seconds < 7, `${seconds} s`)
})

/** Returns the title that the API reference shows. */
const titleOf = async (page: Page) =>
  (await page.locator('#reference h1').first().textContent())!.trim()

test('the API reference shows the description of its gateway, or else the one shipped with it', async (t) => {
  const page = await open(t, '')
  await page.route('**/v1/openapi.json', async (route) => {
    const description = (await (await route.fetch()).json()) as { info: { title: string } }
    await route.fulfill({ json: { ...description, info: { ...description.info, title: 'Here' } } })
  })
  await page.goto(`${url}/reference/api`)
  assert.match(await titleOf(page), /^Here/)
  const page2 = await openPage(t, browser, `${url}/`)
  await page2.route('**/v1/openapi.json', (route) => route.fulfill({ status: 404, body: '' }))
  await page2.goto(`${url}/reference/api`)
  assert.doesNotMatch(await titleOf(page2), /^Here/)
})

test('the API reference has the colors that the reader prefers', async (t) => {
  const page = await open(t, 'reference/api')
  for (const [colorScheme, rules] of COLORS) {
    await page.emulateMedia({ colorScheme }) // the open page adapts
    await page.waitForFunction(() => {
      const [text, drawn] = [document.body, document.querySelector('#reference h1')]
      return drawn && getComputedStyle(drawn).color === getComputedStyle(text).color
    })
    await page.getByText('webhookSecret').first().waitFor({ state: 'attached' })
    for (const width of WIDTHS) await assertFits(page, REFERENCE, width)
    await assertAccessible(page, REFERENCE, rules)
  }
  const uncovered = await page.evaluate(() => {
    scrollTo(0, 3_000)
    const header = document.querySelector('header')!
    return Array.from({ length: innerWidth / 10 }, (_, i) => 10 * i).filter(
      (x) => !header.contains(document.elementFromPoint(x, header.clientHeight / 2)),
    )
  })
  assert.deepEqual(uncovered, [], 'nothing is drawn over the header')
})

test('every page is accessible', async (t) => {
  const page = await open(t, '')
  for (const address of PAGES.filter((name) => name !== REFERENCE)) {
    await page.goto(`${url}/${address}`)
    await assertAccessible(page, address)
    for (const width of WIDTHS) await assertFits(page, address, width)
  }
})

test('pages with every kind of content are accessible on a phone and in the dark', async (t) => {
  const page = await open(t, '')
  for (const address of [
    'index.html',
    'how-to/cluster.html',
    'reference/metrics.html',
    'explain/architecture.html',
  ]) {
    await page.goto(`${url}/${address}`)
    for (const [colorScheme, rules] of COLORS) {
      await page.emulateMedia({ colorScheme })
      for (const width of WIDTHS) {
        await assertFits(page, address, width)
        await assertAccessible(page, address, rules)
      }
    }
  }
})
