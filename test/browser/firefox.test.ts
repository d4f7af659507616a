/** The page's main path in an installed Firefox: an example, a user's file, the player, a share. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { examplePath } from '../support/media/examples.ts'
import { npmPackages } from '../support/packages/npm-packages.ts'
import { startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { codeOf, SPEECH_OVER_PIANO } from './playground.ts'

const FIREFOX = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path))
const PULSEAUDIO = '/usr/bin/pulseaudio'
/** Used here because Playwright needs commands that Firefox 153 lacks. */
const PUPPETEER = '24.43.1'
const WAIT_MS_MAX = 60_000

interface Locator {
  setWaitForEnabled(isOn: boolean): Locator
  click(): Promise<void>
  fill(text: string): Promise<void>
  wait(): Promise<unknown>
}

/** The part of Puppeteer's page that is used here. */
interface Page {
  goto(url: string): Promise<unknown>
  on(event: 'pageerror', listener: (error: Error) => void): void
  locator(selector: string): Locator
  $(selector: string): Promise<{ uploadFile(path: string): Promise<void> } | null>
  evaluate<Result>(program: string): Promise<Result>
}

interface Browser {
  newPage(): Promise<Page>
  close(): Promise<void>
}

/** Starts a sound server that discards its input: without one, Firefox plays nothing. */
async function startSoundServer(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-sound-'))
  const socket = join(folder, 'native')
  const load = [`module-native-protocol-unix socket=${socket} auth-anonymous=1`, 'module-null-sink']
  const child = spawn(
    PULSEAUDIO,
    ['-n', '--exit-idle-time=-1', ...load.map((x) => `--load=${x}`)],
    { env: { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder }, stdio: 'ignore' },
  )
  t.after(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })
  while (!existsSync(socket)) {
    assert.equal(child.exitCode, null, 'pulseaudio ended')
    await sleep(50)
  }
  return `unix:${socket}`
}

/** @param soundServer address of a sound server, which need not exist */
async function launchFirefox(t: TestContext, soundServer: string): Promise<Browser> {
  assert.ok(
    FIREFOX && existsSync(PULSEAUDIO),
    'it needs: sudo apt-get install -y firefox-esr pulseaudio',
  )
  const env = { ...process.env, PULSE_SERVER: soundServer }
  const extraPrefsFirefox = { 'media.cubeb.backend': 'pulse-rust' } // no fallback to ALSA
  const modules = await npmPackages(`puppeteer-${PUPPETEER}`, `puppeteer-core@${PUPPETEER}`)
  const entry = join(modules, 'puppeteer-core/lib/esm/puppeteer/puppeteer-core.js')
  const { default: puppeteer } = (await import(pathToFileURL(entry).href)) as {
    default: { launch(options: object): Promise<Browser> }
  }
  const launching = puppeteer.launch({
    browser: 'firefox',
    executablePath: FIREFOX,
    env,
    extraPrefsFirefox,
  })
  t.after(async () => (await launching.catch(() => undefined))?.close())
  return launching
}

async function openPage(t: TestContext, browser: Browser, winnow: Winnow): Promise<Page> {
  const errors: string[] = []
  const page = await browser.newPage()
  page.on('pageerror', ({ message }) => errors.push(message))
  t.after(() => assert.deepEqual(errors, [], 'errors in the page'))
  await page.goto(`${winnow.url}/#code=${await codeOf(winnow)}`)
  return page
}

/** Puppeteer's waits for what it evaluates need `eval`, which the page's policy forbids. */
const element = (page: Page, selector: string): Locator =>
  page.locator(selector).setWaitForEnabled(false)

const button = (page: Page, name: string): Locator =>
  element(page, `::-p-aria([name="${name}"][role="button"])`)

async function waitUntil(page: Page, program: string): Promise<void> {
  const started = performance.now()
  while (!(await page.evaluate(program))) {
    assert.ok(performance.now() - started < WAIT_MS_MAX, program)
    await sleep(50)
  }
}

test('in Firefox an example plays, and a file is separated, played, saved and shared', async (t) => {
  const browser = await launchFirefox(t, await startSoundServer(t))
  const winnow = await startWinnow(t)
  const page = await openPage(t, browser, winnow)

  await button(page, 'Hear the drums alone').click()
  await button(page, 'Pause').wait()
  const clock = "document.querySelector('.clock').textContent"
  await waitUntil(page, `/^0:0[1-9]/.test(${clock})`)
  const solo = 'document.querySelector(\'[aria-label="Solo drums"]\').ariaPressed'
  assert.equal(await page.evaluate(solo), 'true')

  await button(page, 'New separation').click()
  const chooser = await page.$('input[type=file]')
  await chooser!.uploadFile(examplePath(SPEECH_OVER_PIANO))
  await element(page, '::-p-aria([name="Prompt 1"])').fill('piano')
  await button(page, 'Separate').click()
  await waitUntil(page, 'document.querySelector(\'[aria-label="Solo piano"]\') !== null')
  await button(page, 'Play').click()
  await waitUntil(page, `/^0:0[1-9]/.test(${clock})`)
  await button(page, 'Zoom in').click() // redraws while it plays
  await button(page, 'Spectrogram').click()
  await button(page, 'Pause').click()
  await page.evaluate(KEEP_DOWNLOAD)
  await button(page, 'Download piano as MP3').click()
  await waitUntil(page, 'globalThis.saved?.size > 10_000')

  await element(page, '.share summary').click()
  await button(page, 'Make an address').click()
  const address = 'document.querySelector(".share input")?.value'
  await waitUntil(page, address)
  const other = await browser.newPage()
  await other.goto(await page.evaluate<string>(address))
  await button(other, 'Play').click()
  await waitUntil(other, `/^0:0[1-9]/.test(${clock})`)
})

test('in Firefox without a sound device the page says why nothing plays', async (t) => {
  const browser = await launchFirefox(t, 'unix:/nowhere')
  const winnow = await startWinnow(t)
  const page = await openPage(t, browser, winnow)
  await button(page, 'Hear the drums alone').click()
  const problem = 'document.querySelector(".transport [role=alert]")?.textContent'
  await waitUntil(page, `/^No audio device was found/.test(${problem})`)
  await button(page, 'Play').wait() // it does not pretend to play
})

/** Keeps the blob that the page would save. */
const KEEP_DOWNLOAD = `
  const make = URL.createObjectURL
  URL.createObjectURL = (blob) => {
    globalThis.saved = blob
    return make(blob)
  }`
