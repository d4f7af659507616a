/** `winnow screenshots`: takes pictures of the main states of the page for docs/pictures. */

import { mkdir, readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { enterKey, fillPrompts, launchBrowser } from '../../test/support/page/browser.ts'
import { createScope } from '../../test/support/processes/scope.ts'
import { API_KEY, startWinnow } from '../../test/support/processes/start-winnow.ts'

const FOLDER = 'docs/pictures'
const ADMIN_TOKEN = 'the-admin-token-of-the-pictures'
const WIDE = { width: 1100, height: 860 }
const PHONE = { width: 390, height: 844 }

const scope = createScope()
await mkdir(FOLDER, { recursive: true })
try {
  const browser = await launchBrowser(scope)
  const winnow = await startWinnow(scope, { env: { ADMIN_TOKEN } })
  const page = await browser.newPage({ viewport: WIDE })
  await page.goto(winnow.url)
  await enterKey(page, API_KEY)
  await fillForm(page)
  await save(page, 'form')
  await page.getByRole('button', { name: 'Separate', exact: true }).click()
  await page.getByRole('button', { name: 'Null test' }).click()
  await page.getByText(/peaks at/).waitFor()
  await save(page, 'player')
  await page.getByRole('button', { name: 'Spectrogram' }).click()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.waitForTimeout(2_000) // until it is drawn
  await save(page, 'spectrogram-dark')
  await page.setViewportSize(PHONE)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.waitForTimeout(1_000)
  await save(page, 'phone')
  await page.setViewportSize(WIDE)
  await sendFiles(page)
  await save(page, 'files')
  await showAdmins(page)
  await save(page, 'admins')
} finally {
  await scope.end()
}

async function fillForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'speech over piano', exact: true }).click()
  await fillPrompts(page, 'piano', 'speech')
}

/**
 * Sends several files, and waits until some are done, one has failed and others are still running.
 */
async function sendFiles(page: Page): Promise<void> {
  const sounds = ['speech-over-piano.wav', 'siren-and-speech.wav', 'drums-and-flute.wav']
  const names = Array.from({ length: 7 }, (_, i) => `take ${i + 1}.wav`)
  const files = await Promise.all(
    names.map(async (name, i) => {
      const buffer = await readFile(`examples/${sounds[i % sounds.length]}`)
      return { name, mimeType: 'audio/wav', buffer: i === 1 ? Buffer.from('no sound') : buffer }
    }),
  )
  await page.getByRole('button', { name: 'New separation' }).click()
  await page.getByLabel('Choose files').setInputFiles(files)
  await page.getByText('Expert options').click()
  await page.getByLabel('Quality').selectOption('quality')
  await page.getByRole('button', { name: 'Separate', exact: true }).click()
  await page.getByText(/^[2-4] of 7 separated/).waitFor()
}

async function showAdmins(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Admins' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('link', { name: 'Engines' }).click()
  await page.getByRole('row').getByText('mini').first().waitFor()
}

async function save(page: Page, name: string): Promise<void> {
  await page.evaluate('scrollTo(0, 0)')
  await page.screenshot({ path: `${FOLDER}/${name}.jpg`, type: 'jpeg', quality: 85 })
}
