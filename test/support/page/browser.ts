/** Starts Chromium for tests of the page. */

import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import axe, { type RunOptions } from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'
import { npmChromium, type Executable } from './npm-chromium.ts'

/**
 * The headless shell comes first: the same engine without a window, for half the processor time. By
 * its own path, because Debian's command is a script that stays between it and Playwright.
 */
const PATHS = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** @throws Error naming the command that installs Chromium */
function installedChromium(): Executable {
  const executablePath = PATHS.find((path) => existsSync(path))
  if (executablePath !== undefined) return { executablePath, env: {} }
  throw new Error('The page is tested in Chromium: sudo apt-get install -y chromium-headless-shell')
}

/** Returns Debian's Chromium, or else one from the npm registry, which supports fewer formats. */
export const anyChromium = async (): Promise<Executable> =>
  PATHS.some((path) => existsSync(path)) ? installedChromium() : npmChromium()

/** Launches the browser and closes it after the test, even if the test ends during the launch. */
export async function launchBrowser(
  t: Pick<TestContext, 'after'>,
  { executablePath, env } = installedChromium(),
): Promise<Browser> {
  const launching = chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    chromiumSandbox: process.getuid?.() !== 0, // root can't use the sandbox
    args: [
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  })
  t.after(async () => (await launching.catch(() => undefined))?.close())
  return launching
}

/** What a page waits for before a test fails. A busy machine may need more than Playwright's 30 s. */
const WAIT_MS_MAX = 120_000

/** Chromium logs this to the console when the page's own policy blocks something. */
const FORBIDDEN = /Content Security Policy/

/** Opens a page that fails the test on errors and on violations of its policy. */
export async function openPage(t: TestContext, browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ acceptDownloads: true })
  context.setDefaultTimeout(WAIT_MS_MAX)
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (line) => {
    if (line.type() === 'error' && FORBIDDEN.test(line.text())) errors.push(line.text())
  })
  t.after(async () => {
    await context.close()
    if (errors.length > 0) throw new Error(`errors in the page:\n${errors.join('\n')}`)
  })
  await page.goto(url)
  return page
}

/** The only rule of axe-core that depends on the page's colors. */
export const CONTRAST: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast'] } }

/**
 * Runs axe-core on the current page, and returns the violated rules with the elements that violate
 * them.
 */
export async function accessibilityProblems(
  page: Page,
  options: RunOptions = {},
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(
    async (options) => {
      const { axe: inPage } = globalThis as unknown as { axe: typeof axe }
      const { violations } = await inPage.run(options)
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    },
    { ...options, resultTypes: ['violations' as const], selectors: false },
  )
}

/** Enters a key into a page that asks for one. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Fills prompts into the form of the page, whose first field is there already. */
export async function fillPrompts(page: Page, ...prompts: string[]): Promise<void> {
  for (const [i, prompt] of prompts.entries()) {
    if (i > 0) await page.getByRole('button', { name: 'Add another sound' }).click()
    await page.getByRole('combobox', { name: `Prompt ${i + 1}` }).fill(prompt)
  }
}
