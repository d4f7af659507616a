/** How the page is served (an extension); what it does is tested in a browser. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { assertError } from '../support/gateway/assert-shape.ts'
import { startGateway, type GatewayOptions } from '../support/gateway/start-gateway.ts'

const PAGE = '<!doctype html><title>the page</title>'
const SCRIPT = 'console.log("the script")'

async function start(t: TestContext, config: GatewayOptions['config'] = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'page-'))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), PAGE)
  await writeFile(join(folder, 'assets/page-0.js'), SCRIPT)
  await writeFile(join(folder, 'assets/page-0.js.gz'), gzipSync(SCRIPT))
  await writeFile(join(folder, 'secret'), 'not a part of the page')
  const gateway = await startGateway(t, { config: { playgroundFolder: folder, ...config } })
  return (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers })
}

test('the page runs only its own scripts, in no frame, and connects to nothing else', async (t) => {
  const get = await start(t, { mediaOrigins: ['https://bucket.example'] })
  const reply = await get('/')
  assert.equal(reply.statusCode, 200)
  assert.equal(reply.body, PAGE)
  assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(reply.headers['cache-control'], 'no-cache')
  const policy = String(reply.headers['content-security-policy']).split('; ')
  assert.ok(policy.includes("script-src 'self' 'wasm-unsafe-eval'"))
  assert.ok(policy.includes('worker-src blob:'))
  assert.ok(policy.includes("frame-ancestors 'none'"))
  assert.ok(policy.includes("connect-src 'self' http://winnow.test https://bucket.example"))
})

test('assets are cached for a year, and compressed for clients that support it', async (t) => {
  const get = await start(t)
  const plain = await get('/playground/assets/page-0.js')
  assert.equal(plain.body, SCRIPT)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.match(String(plain.headers['cache-control']), /immutable/)
  const zipped = await get('/playground/assets/page-0.js', { 'accept-encoding': 'br, gzip' })
  assert.equal(zipped.headers['content-encoding'], 'gzip', 'there is no other')
  assert.equal(zipped.headers['content-type'], 'text/javascript; charset=utf-8')
  assert.equal(gunzipSync(zipped.rawPayload).toString(), SCRIPT)
})

test('only assets are served', async (t) => {
  const get = await start(t)
  for (const name of ['none.js', '..%2Fsecret', '../secret', '..%2Findex.html', 'page-0.js.gz']) {
    assertError(await get(`/playground/assets/${name}`), 'NOT_FOUND')
  }
})

test('without a built page the address says so, and the API still works', async (t) => {
  const get = await start(t, { playgroundFolder: '/nowhere' })
  const reply = await get('/')
  assertError(reply, 'NOT_FOUND')
  assert.match(reply.json().error.message, /npm run setup/)
  assert.equal((await get('/healthz')).statusCode, 200)
})

test('PLAYGROUND=off removes the page', async (t) => {
  const get = await start(t, { playground: 'off' })
  assertError(await get('/'), 'NOT_FOUND')
  assertError(await get('/playground/assets/page-0.js'), 'NOT_FOUND')
})
