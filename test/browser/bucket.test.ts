/** The page of a service whose media is in a bucket, and so at another origin. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { PutBucketCorsCommand, type CORSRule } from '@aws-sdk/client-s3'
import type { Page } from 'playwright-core'
import { enterKey, launchBrowser, openPage } from '../support/page/browser.ts'
import { lastsTwoHours, separateExample, signedIn, type Place } from './playground.ts'
import { documentedBlocks } from '../support/clients/code-blocks.ts'
import { startS3 } from '../support/http/start-s3.ts'
import { API_KEY, startWinnow } from '../support/processes/start-winnow.ts'

type S3 = Awaited<ReturnType<typeof startS3>>

/** Applies the CORS rule of docs/how-to/bucket.md to the page's origin. */
async function allowPages({ client, bucket }: S3, origin: string): Promise<void> {
  const { code } = documentedBlocks().find(({ code }) => code.includes('CORSRules'))!
  const CORSConfiguration = JSON.parse(code.replace('https://winnow.example.com', origin)) as {
    CORSRules: CORSRule[]
  }
  await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration }))
}

/** Records the page's calls to the bucket, with the names of their headers. */
function recordCalls(page: Page, { endpoint }: S3): { call: string; headers: Promise<string[]> }[] {
  const seen: { call: string; headers: Promise<string[]> }[] = []
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (origin !== endpoint) return
    const headers = request.allHeaders().then((all) => Object.keys(all))
    seen.push({ call: `${request.method()} ${pathname}`, headers })
  })
  return seen
}

/** Separates an example, then reloads it as media too long to decode and without a preview. */
async function separateTwice(page: Page, s3: S3): Promise<void> {
  const seen = recordCalls(page, s3)
  await separateExample(page, 'piano')
  await page.getByRole('button', { name: 'Play', exact: true }).click() // fetches ranges of the preview
  await page.waitForFunction(() => /^0:0[1-9]/.test(document.querySelector('.clock')!.textContent))
  await page.getByRole('button', { name: 'Null test' }).click()
  await page.getByText(/nothing was added and nothing lost/).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download piano as MP3' }).click()
  assert.equal((await saved).suggestedFilename(), 'speech-over-piano.piano.mp3')
  await lastsTwoHours(page)
  await page.reload()
  await page.getByRole('img', { name: 'Waveform of The rest' }).waitFor() // drawn from peaks
  assert.equal(seen.filter(({ call }) => call.startsWith('PUT ')).length, 1)
  const fetched = seen.filter(({ call }) => call.startsWith('GET ')).length
  assert.ok(fetched >= 4, 'a target, a residual, peaks, a preview')
  for (const { call, headers } of seen) {
    const secrets = (await headers).filter((name) =>
      ['authorization', 'cookie', 'x-csrf-token'].includes(name),
    )
    assert.deepEqual(secrets, [], `${call} carries nothing of who is signed in`)
  }
}

test('the page plays media from a bucket, which gets neither key nor session', async (t) => {
  const s3 = await startS3(t)
  const browser = await launchBrowser(t)
  const { bucket: S3_BUCKET, endpoint: S3_ENDPOINT, region: S3_REGION } = s3
  const winnow = await startWinnow(t, { env: { ...s3.env, S3_BUCKET, S3_ENDPOINT, S3_REGION } })
  await allowPages(s3, winnow.url)
  const place: Place = { t, winnow, browser }
  await t.test('signed in with a session', async () => separateTwice(await signedIn(place), s3))
  await t.test('signed in with a key', async (t) => {
    const page = await openPage(t, browser, winnow.url)
    await enterKey(page, API_KEY)
    await separateTwice(page, s3)
  })
})
