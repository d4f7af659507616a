/** How the documents are served (an extension); their content is tested where they are built. */

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { assertError } from '../support/gateway/assert-shape.ts'
import { startGateway, type GatewayOptions } from '../support/gateway/start-gateway.ts'

const PAGE = '<!doctype html><title>a guide</title>'

async function start(t: TestContext, config: GatewayOptions['config'] = {}, page = PAGE) {
  const folder = await mkdtemp(join(tmpdir(), 'docs-'))
  t.after(() => rm(folder, { recursive: true }))
  const site = join(folder, 'site')
  await mkdir(join(site, 'how-to'), { recursive: true })
  await writeFile(join(site, 'index.html'), 'the index')
  await writeFile(join(site, 'how-to/podcast.html'), page)
  await writeFile(join(site, 'site.css'), 'a style')
  await writeFile(join(site, 'site.css.gz'), gzipSync('a style'))
  await writeFile(join(site, 'sound.mp3'), '0123456789')
  await writeFile(join(site, '.made-of'), 'a hash')
  await writeFile(join(folder, 'secret.txt'), 'not a part of the site')
  const gateway = await startGateway(t, { config: { docsFolder: site, ...config } })
  return (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers })
}

test('a page is served with or without its extension, and the index for a folder', async (t) => {
  const get = await start(t)
  for (const address of ['/docs/how-to/podcast', '/docs/how-to/podcast.html?from=a-link']) {
    const reply = await get(address)
    assert.equal(reply.statusCode, 200, address)
    assert.equal(reply.body, PAGE)
    assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
  }
  assert.equal((await get('/docs/')).body, 'the index')
  const moved = await get('/docs')
  assert.equal(moved.statusCode, 301)
  assert.equal(moved.headers.location, 'docs/', 'also behind a proxy that adds a path')
})

test('the documents run only their own scripts, in no frame, and connect to nothing else', async (t) => {
  const get = await start(t)
  const { headers } = await get('/docs/')
  const policy = String(headers['content-security-policy']).split('; ')
  assert.ok(policy.includes("default-src 'none'"))
  assert.ok(policy.includes("script-src 'self'"))
  assert.ok(policy.includes("frame-ancestors 'none'"))
})

test('a page is compressed for clients that support it, and revalidated', async (t) => {
  const get = await start(t)
  const zipped = await get('/docs/how-to/podcast', { 'accept-encoding': 'br, gzip' })
  assert.equal(zipped.headers['content-encoding'], 'gzip', 'there is no other')
  assert.equal(gunzipSync(zipped.rawPayload).toString(), PAGE)
  assert.equal(zipped.headers['cache-control'], 'no-cache')
  const etag = String(zipped.headers.etag)
  const again = await get('/docs/how-to/podcast', {
    'accept-encoding': 'gzip',
    'if-none-match': etag,
  })
  assert.equal(again.statusCode, 304)
  const style = await get('/docs/site.css', { 'accept-encoding': 'br, gzip' })
  assert.equal(gunzipSync(style.rawPayload).toString(), 'a style')
})

test("a page has this service's address in its examples, and a link back to the page", async (t) => {
  const local = 'http://127.0.0.1:8080'
  const text = `<!--way-back--><code>curl <!--service-->${local}<!--/service-->/v1</code> ${local}`
  const there = { publicUrl: () => 'https://winnow.example/a' }
  const body = async (playground: 'on' | 'off') => {
    const get = await start(t, { ...there, playground }, text)
    return (await get('/docs/how-to/podcast')).body
  }
  const code = `<code>curl https://winnow.example/a/v1</code> ${local}`
  assert.equal(await body('on'), `<a class="way-back" href="../../">Back to the page</a>${code}`)
  assert.equal(await body('off'), code)
})

test('a sound is served by range', async (t) => {
  const get = await start(t)
  const reply = await get('/docs/sound.mp3', { range: 'bytes=2-4' })
  assert.equal(reply.statusCode, 206)
  assert.equal(reply.body, '234')
  assert.equal(reply.headers['content-type'], 'audio/mpeg')
})

test('only the site is served', async (t) => {
  const get = await start(t)
  const names = ['none', '..%2Fsecret.txt', '../secret.txt', '.made-of', 'how-to', 'site.css.gz']
  for (const name of names) assertError(await get(`/docs/${name}`), 'NOT_FOUND')
})

test('without built documents the address says so, and the API still works', async (t) => {
  const get = await start(t, { docsFolder: '/nowhere' })
  const reply = await get('/docs/')
  assertError(reply, 'NOT_FOUND')
  assert.match(reply.json().error.message, /npm run winnow -- docs/)
  assert.equal((await get('/healthz')).statusCode, 200)
})

test('PLAYGROUND=off keeps the documents', async (t) => {
  const get = await start(t, { playground: 'off' })
  assert.equal((await get('/docs/')).statusCode, 200)
})
