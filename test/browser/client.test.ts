/** The modules of the TypeScript client's package in a real browser, with the real service. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { launchBrowser, openPage } from './browser.ts'
import { buildClient } from '../support/client-package.ts'
import { examplePath, readWav16, sumError, SUM_ERROR_MAX } from '../support/examples.ts'
import { API_KEY, startWinnow } from '../support/start-winnow.ts'
import { readWav24 } from '../support/wav.ts'

const MIXTURE = 'speech-over-piano.wav'

test('the package is loaded by a page as it is, and separates a blob', async (t) => {
  const [folder, winnow, browser] = await Promise.all([
    buildClient(t),
    startWinnow(t),
    launchBrowser(t),
  ])
  const page = await openPage(t, browser, winnow.url)
  const loaded: string[] = []
  await page.route('**/winnow-client/*', async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? ''
    loaded.push(name)
    const body = await readFile(join(folder, 'dist', name), 'utf8')
    await route.fulfill({ body, contentType: 'text/javascript' })
  })
  const { statuses, parts, files, refused } = await page.evaluate(separateInPage, {
    apiKey: API_KEY,
    mixture: (await readFile(examplePath(MIXTURE))).toString('base64'),
  })
  assert.deepEqual(loaded.sort(), [
    'call.js',
    'client.js',
    'errors.js',
    'event-stream.js',
    'send-blob.js',
  ])
  assert.equal(parts.at(-1), 1)
  assert.equal(statuses.at(-1), 'COMPLETED')
  assert.deepEqual(refused, { code: 'INVALID_PARAMETER', param: 'input.prompt', status: 400 })
  const [target, residual] = files.map((file) => readWav24(Buffer.from(file, 'base64')).planes)
  const mixture = await readWav16(examplePath(MIXTURE))
  assert.ok(sumError(target!, residual!, mixture) <= SUM_ERROR_MAX)
})

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
