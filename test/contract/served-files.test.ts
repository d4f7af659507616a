/**
 * How the page, the documents and the client packages are served (an extension). What they do is
 * tested in a browser, and where they are built.
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { temporaryFolder } from '../support/basics/temporary-folder.ts'
import { assertError } from '../support/gateway/assert-shape.ts'
import { type GatewayOptions, PUBLIC_URL, startGateway } from '../support/gateway/start-gateway.ts'

const PAGE = '<!doctype html><title>the page</title>'
const SCRIPT = 'console.log("the script")'
const GUIDE = '<!doctype html><title>a guide</title>'
const WHEEL = 'winnow_client-1.2.3-py3-none-any.whl'

const FILES: Readonly<Record<string, string | Buffer>> = {
  'page/index.html': PAGE,
  'page/assets/page-0.js': SCRIPT,
  'page/assets/page-0.js.gz': gzipSync(SCRIPT),
  'page/secret': 'not a part of the page',
  'site/index.html': 'the index',
  'site/how-to/podcast.html': GUIDE,
  'site/site.css': 'a style',
  'site/site.css.gz': gzipSync('a style'),
  'site/sound.mp3': '0123456789',
  'site/.made-of': 'a hash',
  'secret.txt': 'not a part of the site',
  'clients/winnow-client-1.2.3.tgz': 'a package',
  [`clients/${WHEEL}`]: 'a wheel',
  'clients/.made-of': 'no package',
}

/** Starts a gateway with all of them; returns a function that gets an address. */
async function start(t: TestContext, config: GatewayOptions['config'] = {}, guide = GUIDE) {
  const folder = temporaryFolder(t)
  for (const [name, content] of Object.entries({ ...FILES, 'site/how-to/podcast.html': guide })) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  const [playgroundFolder, docsFolder, clientsFolder] = ['page', 'site', 'clients'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  const folders = { playgroundFolder, docsFolder, clientsFolder }
  const { app } = await startGateway(t, { config: { ...folders, ...config } })
  return (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    app.inject({ method, url, headers })
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

test('PLAYGROUND=off removes the page', async (t) => {
  const get = await start(t, { playground: 'off' })
  assertError(await get('/'), 'NOT_FOUND')
  assertError(await get('/playground/assets/page-0.js'), 'NOT_FOUND')
})

test('pages are served with or without their extension, sounds by range', async (t) => {
  const get = await start(t)
  for (const address of ['/docs/how-to/podcast', '/docs/how-to/podcast.html?from=a-link']) {
    const reply = await get(address)
    assert.equal(reply.statusCode, 200, address)
    assert.equal(reply.body, GUIDE)
    assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
  }
  const index = await get('/docs/')
  assert.equal(index.body, 'the index')
  const policy = String(index.headers['content-security-policy']).split('; ')
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
    assert.ok(policy.includes(rule), rule)
  }
  const moved = await get('/docs')
  assert.equal(moved.statusCode, 301)
  assert.equal(moved.headers.location, 'docs/', 'also behind a proxy that adds a path')
  const sound = await get('/docs/sound.mp3', { range: 'bytes=2-4' })
  assert.deepEqual([sound.statusCode, sound.body], [206, '234'])
  assert.equal(sound.headers['content-type'], 'audio/mpeg')
})

test('a page is compressed for clients that support it, and revalidated', async (t) => {
  const get = await start(t)
  const zipped = await get('/docs/how-to/podcast', { 'accept-encoding': 'br, gzip' })
  assert.equal(zipped.headers['content-encoding'], 'gzip', 'there is no other')
  assert.equal(gunzipSync(zipped.rawPayload).toString(), GUIDE)
  assert.equal(zipped.headers['cache-control'], 'no-cache')
  const etag = String(zipped.headers.etag)
  const headers = { 'accept-encoding': 'gzip', 'if-none-match': etag }
  const again = await get('/docs/how-to/podcast', headers)
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

test('only the site is served', async (t) => {
  const get = await start(t)
  const names = ['none', '..%2Fsecret.txt', '../secret.txt', '.made-of', 'how-to', 'site.css.gz']
  for (const name of names) assertError(await get(`/docs/${name}`), 'NOT_FOUND')
})

test('the clients are listed and served without a key, by their hashes', async (t) => {
  const get = await start(t)
  const { data } = (await get('/clients')).json()
  const sha256 = createHash('sha256').update('a wheel').digest('hex')
  assert.deepEqual(data[1], {
    language: 'python',
    file_name: WHEEL,
    sha256,
    file_size: 7,
    url: `${PUBLIC_URL}/clients/${WHEEL}`,
  })
  const wheel = await get(`/clients/${WHEEL}`)
  assert.deepEqual([wheel.statusCode, wheel.body], [200, 'a wheel'])
  const head = await get(`/clients/${WHEEL}`, {}, 'HEAD')
  assert.deepEqual([head.statusCode, head.headers['content-length'], head.body], [200, '7', ''])
  const etag = String(head.headers.etag)
  assert.equal(etag, `"${sha256}"`)
  const again = await get(`/clients/${WHEEL}`, { 'if-none-match': etag })
  assert.equal(again.statusCode, 304)
  const moved = await get('/clients/winnow_client.whl')
  assert.deepEqual([moved.statusCode, moved.headers.location], [302, WHEEL])
  const tarball = await get('/clients/winnow-client.tgz')
  assert.equal(tarball.headers.location, 'winnow-client-1.2.3.tgz')
  for (const name of ['.made-of', 'winnow-client-1.2.2.tgz', '..%2Fsecret']) {
    assertError(await get(`/clients/${name}`), 'NOT_FOUND')
  }
})

test('what is not built says so at its address, and the API still works', async (t) => {
  const nowhere = '/nowhere'
  const get = await start(t, {
    playgroundFolder: nowhere,
    docsFolder: nowhere,
    clientsFolder: nowhere,
  })
  for (const [url, command] of [
    ['/', /npm run setup/],
    ['/docs/', /npm run winnow -- docs/],
    ['/clients/winnow-client.tgz', /npm run setup/],
  ] as const) {
    const reply = await get(url)
    assertError(reply, 'NOT_FOUND')
    assert.match(reply.json().error.message, command)
  }
  assert.deepEqual((await get('/clients')).json().data, [])
  assert.equal((await get('/healthz')).statusCode, 200)
})
