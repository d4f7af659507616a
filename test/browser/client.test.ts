/** The modules of the TypeScript client's package in a real browser, with the real service. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { before, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, openPage } from '../support/page/browser.ts'
import { buildClient } from '../support/clients/client-package.ts'
import { examplePath, readWav16, sumError, SUM_ERROR_MAX } from '../support/media/examples.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { readWav24 } from '../support/media/wav.ts'

const MIXTURE = 'speech-over-piano.wav'

/** Serves the package to the page; returns the names of the modules as the page loads them. */
async function servePackage(page: Page, folder: string): Promise<string[]> {
  const loaded: string[] = []
  await page.route('**/winnow-client/*', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? ''
    loaded.push(name)
    const body = await readFile(join(folder, 'dist', name), 'utf8')
    await route.fulfill({ body, contentType: 'text/javascript' })
  })
  return loaded
}

let folder: string
let winnow: Winnow
let browser: Browser
before(async (t) => {
  const context = t as TestContext
  ;[folder, winnow, browser] = await Promise.all([
    buildClient(context),
    startWinnow(context),
    launchBrowser(context),
  ])
})

/** Opens the service's page with the package loaded; `loaded` has the modules of the package. */
async function pageWithPackage(t: TestContext): Promise<{ page: Page; loaded: string[] }> {
  const page = await openPage(t, browser, winnow.url)
  const loaded = await servePackage(page, folder)
  await page.evaluate((path) => import(path), '/winnow-client/client.js')
  await page.unrouteAll() // else each body that the page sends would pass through this process
  return { page, loaded }
}

test('a page loads the package without a bundler, and separates a blob', async (t) => {
  const { page, loaded } = await pageWithPackage(t)
  const withKey = new Set<string>()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (request.headers().authorization) withKey.add(pathname.split('/')[1]!)
  })
  const { statuses, parts, files, refused } = await page.evaluate(separateInPage, {
    apiKey: API_KEY,
    mixture: (await readFile(examplePath(MIXTURE))).toString('base64'),
  })
  assert.ok(loaded.includes('client.js'))
  assert.ok(!loaded.includes('node.js'), 'what needs Node is not loaded by a page')
  assert.deepEqual([...withKey], ['v1'], 'the key goes to the API alone')
  assert.equal(parts.at(-1), 1)
  assert.deepEqual(parts, [...parts].sort(), 'progress grows')
  assert.equal(statuses.at(-1), 'COMPLETED')
  assert.deepEqual(refused, { code: 'INVALID_PARAMETER', param: 'input.prompt', status: 400 })
  const [target, residual] = files.map((file) => readWav24(Buffer.from(file, 'base64')).planes)
  const mixture = await readWav16(examplePath(MIXTURE))
  assert.ok(sumError(target!, residual!, mixture) <= SUM_ERROR_MAX)
})

const MEBIBYTES = 48

test('a refused upload says why, and when to retry', async (t) => {
  const { page } = await pageWithPackage(t)
  const uploadOptions = { apiKey: API_KEY, mebibytes: MEBIBYTES }
  for (let i = 0; i < 3; i += 1) {
    const refused = await page.evaluate(uploadInPage, { ...uploadOptions, isForged: true })
    assert.deepEqual(refused, { code: 'PERMISSION_DENIED', status: 403 })
  }
  const busy = { error: { code: 'QUEUE_UNAVAILABLE', message: 'No room.' } }
  await page.route('**/media/inputs/**', (route) =>
    route.fulfill({ status: 503, headers: { 'retry-after': '7' }, json: busy }),
  )
  const refused = await page.evaluate(uploadInPage, { ...uploadOptions, mebibytes: 1 })
  assert.deepEqual(refused, { code: 'QUEUE_UNAVAILABLE', status: 503, retryAfterSeconds: 7 })
})

test('an upload that is aborted or unreachable ends', { timeout: 60_000 }, async (t) => {
  const { page } = await pageWithPackage(t)
  const uploadOptions = { apiKey: API_KEY, mebibytes: 1 }
  // The upload is never answered; the page aborts it once it has begun.
  await page.route('**/media/inputs/**', () =>
    page.evaluate(() => dispatchEvent(new Event('abort-upload'))),
  )
  assert.equal(await page.evaluate(abortInPage, uploadOptions), 'AbortError')
  await page.route('**/media/inputs/**', (route) => route.abort())
  const unreachable = `UnreachableError: ${winnow.url} does not answer.`
  assert.equal(await page.evaluate(uploadInPage, uploadOptions), unreachable)
})

/** Runs in the page. */
async function abortInPage({ apiKey, mebibytes }: { apiKey: string; mebibytes: number }) {
  const path = '/winnow-client/client.js'
  const { createClient } = (await import(
    path
  )) as typeof import('../../clients/typescript/client.ts')
  const controller = new AbortController()
  const client = createClient({ baseUrl: location.origin, apiKey, signal: controller.signal })
  addEventListener('abort-upload', () => controller.abort())
  const bytes = new Blob([new Uint8Array(mebibytes * 2 ** 20)])
  const upload = client.uploadBlob({ name: 'long.wav', contentType: 'audio/wav', bytes })
  return upload.then(
    () => null,
    (error: Error) => error.name,
  )
}

interface UploadOptions {
  apiKey: string
  mebibytes: number
  /** Whether to cut the signature, so that the gateway refuses the upload while it is being sent. */
  isForged?: boolean
}

/** Runs in the page. */
async function uploadInPage({ apiKey, mebibytes, isForged = false }: UploadOptions) {
  const path = '/winnow-client/client.js'
  const { createClient, ApiError } = (await import(
    path
  )) as typeof import('../../clients/typescript/client.ts')
  const client = createClient({ baseUrl: location.origin, apiKey, retries: 0 })
  const bytes = new Blob([new Uint8Array(mebibytes * 2 ** 20)])
  const file = await client.createFile({
    file_name: 'long.wav',
    content_type: 'audio/wav',
    file_size: bytes.size,
    purpose: 'audio.separate.input',
  })
  if (isForged) file.upload_url = file.upload_url.slice(0, -1)
  return client.send(file, bytes).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof ApiError)) return String(error)
      const { code, status, retryAfterSeconds } = error
      return { code, status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
    },
  )
}

/** Runs in the page. */
async function separateInPage({ apiKey, mixture }: { apiKey: string; mixture: string }) {
  const path = '/winnow-client/client.js'
  const { createClient, ApiError } = (await import(
    path
  )) as typeof import('../../clients/typescript/client.ts')
  const client = createClient({ baseUrl: location.origin, apiKey })
  const bytes = new Blob([Uint8Array.from(atob(mixture), (letter) => letter.charCodeAt(0))])
  const parts: number[] = []
  const fileId = await client.uploadBlob(
    { name: 'mix.wav', contentType: 'audio/wav', bytes },
    (part) => parts.push(part),
  )
  const request = await client.submit({ input: { prompt: 'piano', file_id: fileId } })
  const statuses: string[] = []
  for await (const { status } of client.follow(request)) statuses.push(status)
  const { data } = await client.wait(request)
  const files: string[] = []
  for (const { url } of [data.target, data.residual]) {
    const pieces = new Uint8Array(await (await client.open(url)).arrayBuffer())
    files.push(btoa(Array.from(pieces, (byte) => String.fromCharCode(byte)).join('')))
  }
  const refused = await client.submit({ input: { prompt: '', file_id: fileId } }).then(
    () => null,
    (error: unknown) =>
      error instanceof ApiError && { code: error.code, param: error.param, status: error.status },
  )
  return { statuses, parts, files, refused }
}
