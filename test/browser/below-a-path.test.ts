/** Everything works behind a proxy that strips a path, which PUBLIC_URL contains. */

import assert from 'node:assert/strict'
import { request, type RequestListener } from 'node:http'
import test, { before, type TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { anyChromium, launchBrowser, openPage } from '../support/page/browser.ts'
import { freePorts } from '../support/processes/free-ports.ts'
import { serve } from '../support/http/serve.ts'
import { API_KEY, startWinnow, type Winnow } from '../support/processes/start-winnow.ts'
import { createClient } from '../../clients/typescript/node.ts'
import { readGateway, readFleet } from '../../scripts/cli/admin-access.ts'
import { separateExample, signedIn } from './playground.ts'

const PATH = '/sound/apart'
const ADMIN_TOKEN = 'a-token-for-this-test'

/** The service as clients reach it, through the proxy. */
let winnow: Winnow
let browser: Browser
before(async (scope) => {
  const t = scope as TestContext
  const [port] = await freePorts(1)
  const { url: proxy } = await serve(t, (...call) => forward(port!, ...call))
  const url = proxy + PATH
  const env = { PUBLIC_URL: `${url}/`, PORT: String(port), ADMIN_TOKEN }
  const local = await startWinnow(t, { env })
  winnow = { ...local, url, client: createClient({ baseUrl: url, apiKey: API_KEY }) }
  browser = await launchBrowser(t, await anyChromium())
})

/** Forwards like nginx with `location /sound/apart/ { proxy_pass http://127.0.0.1:8080/; }`. */
function forward(port: number, ...[incoming, reply]: Parameters<RequestListener>): void {
  const { url = '', method, headers } = incoming
  if (!url.startsWith(`${PATH}/`)) return void reply.writeHead(404).end()
  const path = url.slice(PATH.length)
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
    reply.writeHead(response.statusCode!, response.headers)
    response.pipe(reply)
  })
  outgoing.on('error', () => reply.destroy())
  reply.on('close', () => outgoing.destroy())
  incoming.pipe(outgoing)
}

/** Fails the test on any 404; the page's first calls may be refused otherwise. */
function failOnMissing(t: TestContext, page: Page): void {
  const missing: string[] = []
  page.on('response', (reply) => {
    if (reply.status() === 404) missing.push(reply.url())
  })
  t.after(() => assert.deepEqual(missing, []))
}

test('the page signs in, separates an example, and shares the result', async (t) => {
  const page = await signedIn({ t, winnow, browser })
  failOnMissing(t, page)
  await page.reload()
  await page.getByRole('heading', { name: 'What do you want to take out?' }).waitFor()
  await separateExample(page, 'piano')
  const { data } = await winnow.client.list()
  const { url } = await winnow.client.share(data[0]!.request_id)
  assert.ok(url.startsWith(`${winnow.url}/#share=`), url)
  const shared = await openPage(t, browser, url)
  failOnMissing(t, shared)
  await shared.getByText('shared with you').waitFor()
  await shared.getByRole('button', { name: 'Save this mix' }).waitFor()
})

test('the view of admins shows the engines', async (t) => {
  const page = await openPage(t, browser, `${winnow.url}/`)
  failOnMissing(t, page)
  await page.getByRole('button', { name: 'Admins' }).click()
  await page.getByLabel('ADMIN_TOKEN of the gateway').fill(ADMIN_TOKEN)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Engines', exact: true }).click()
  await page.getByRole('region', { name: 'Engines' }).getByText('mini').first().waitFor()
  const gateway = readGateway({ url: `${winnow.url}/`, token: ADMIN_TOKEN }, {})
  assert.equal((await readFleet(gateway, new AbortController().signal)).engines.length, 1)
})

test('the documents and the API reference are served, and name this service', async (t) => {
  const page = await openPage(t, browser, `${winnow.url}/`)
  failOnMissing(t, page)
  await page.getByRole('link', { name: 'Documents' }).click()
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.goto(`${winnow.url}/docs`)
  assert.equal(page.url(), `${winnow.url}/docs/`)
  await page.goto(`${winnow.url}/docs/reference/api.html`)
  await page.getByText('/v1/queue/audio/separate').first().waitFor()
  const description = await fetch(`${winnow.url}/v1/openapi.json`)
  const { servers } = (await description.json()) as { servers: unknown }
  assert.deepEqual(servers, [{ url: winnow.url }])
})
