import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ServiceError } from '../../../../shared/errors.ts'
import { createPublicFetch } from '../../../../shared/http/public-fetch.ts'
import { probing } from '../../../support/probe.ts'
import { serve } from '../../../harness/serve.ts'

const ALLOWED = { allowCidrs: ['127.0.0.0/8'] }
const { check, download } = createPublicFetch(ALLOWED)
const probe = probing({ download })
const hasty = createPublicFetch({ ...ALLOWED, limits: { firstByteMsMax: 100, silenceMsMax: 100 } })

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'public-fetch-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const signal = new AbortController().signal

test('a check asks name servers alone, and refuses what leads to no public address', async () => {
  const names: Record<string, string> = {
    'public.example': '1.1.1.1',
    'private.example': '10.0.0.1',
    'slow.example': 'silence',
    'broken.example': 'SERVFAIL',
  }
  const resolve = (name: string, signal: AbortSignal) => {
    const answer = names[name]
    if (answer === 'silence') {
      return new Promise<never>((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      )
    }
    const code = answer === undefined ? 'ENOTFOUND' : answer === 'SERVFAIL' ? 'ESERVFAIL' : ''
    if (code) return Promise.reject(Object.assign(new Error('no'), { code }))
    return Promise.resolve([{ address: answer!, family: 4 }])
  }
  const checks = createPublicFetch({ allowCidrs: [], resolve, limits: { checkMsMax: 20 } })
  for (const name of ['public', 'slow', 'broken'])
    await checks.check(`https://${name}.example/a.mp3`)
  const refusals = await Promise.all(
    ['private', 'unknown'].map((name) =>
      checks.check(`https://${name}.example/a.mp3`).catch((error: unknown) => error),
    ),
  )
  for (const refusal of refusals) {
    assert.equal((refusal as { code?: unknown }).code, 'INVALID_AUDIO_URL')
    assert.equal(String(refusal), String(refusals[0]), 'which names exist is not told')
  }
  await assert.rejects(checks.check('https://127.0.0.1/'), { code: 'INVALID_AUDIO_URL' })
  await check('http://127.0.0.1:1/') // nobody listens
  const gone = AbortSignal.abort(new Error('gone'))
  await assert.rejects(checks.check('https://slow.example/', { signal: gone }), /gone/)
})

test('redirects are followed, five at most', async (t) => {
  const { url: base } = await serve(t, (request, reply) => {
    const left = Number(request.url?.slice(1))
    if (left === 0) return reply.end('done')
    return reply.writeHead(302, { location: `/${left - 1}` }).end()
  })
  assert.equal((await probe(`${base}/5`)).bytes, 4)
  await assert.rejects(probe(`${base}/6`), { code: 'MEDIA_FETCH_FAILED', message: /more than 5/ })
})

const TYPES: readonly [string, boolean][] = [
  ['audio/wav', true],
  ['video/mp4', true],
  ['application/octet-stream', true],
  ['binary/octet-stream', true],
  ['application/ogg', true],
  ['application/mp4', true],
  ['text/html; charset=utf-8', false],
  ['TEXT/PLAIN', false],
  ['application/json', false],
  ['application/problem+json', false],
  ['image/png', false],
  ['image/svg+xml', false],
  ['application/pdf', false],
  ['application/vnd.apple.mpegurl', false],
  ['audio/x-mpegurl', false],
  ['application/dash+xml', false],
]

test('an answer that is clearly not media is refused by its type', async (t) => {
  const { url: base } = await serve(t, (request, reply) => {
    const [type] = TYPES[Number(request.url?.slice(1))] ?? ['']
    reply.writeHead(200, { 'content-type': type }).end('x')
  })
  for (const [index, [type, isMedia]] of TYPES.entries()) {
    const answer = probe(`${base}/${index}`)
    if (isMedia) await answer
    else await assert.rejects(answer, { code: 'INVALID_AUDIO_URL' }, type)
  }
})

test('a type without end does not make a message without end', async (t) => {
  const { url } = await serve(t, (_request, reply) =>
    reply.writeHead(200, { 'content-type': `text/${'x'.repeat(10_000)}` }).end('x'),
  )
  await assert.rejects(probe(url), (error: Error) => error.message.length < 250)
})

test('what the world does wrong is MEDIA_FETCH_FAILED', async (t) => {
  const answers: Record<string, RequestListener> = {
    '/missing': (_request, reply) => reply.writeHead(404).end(),
    '/broken': (_request, reply) => reply.writeHead(500).end(),
    '/nowhere': (_request, reply) => reply.writeHead(302).end(),
    '/silent': () => {},
    '/hangs-up': (request) => request.socket.destroy(),
    '/zipped': (_request, reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end(),
  }
  const { url: base } = await serve(t, (request, reply) =>
    answers[request.url ?? '']?.(request, reply),
  )
  const failed = (message: RegExp) => ({ code: 'MEDIA_FETCH_FAILED', message })
  await assert.rejects(probe(`${base}/missing`), failed(/status 404/))
  await assert.rejects(probe(`${base}/broken`), failed(/status 500/))
  await assert.rejects(probe(`${base}/nowhere`), failed(/status 302/))
  await assert.rejects(probing(hasty)(`${base}/silent`), failed(/in time/))
  await assert.rejects(probe(`${base}/hangs-up`), failed(/broke off/))
  await assert.rejects(probe(`${base}/zipped`), failed(/compressed/))
  await assert.rejects(probe('http://127.0.0.1:1/'), failed(/connection failed/))
})

test('a download tells an unknown name from a private one as little as a check does', async () => {
  const messages = new Set<string>()
  for (const code of ['ENOTFOUND', 'ENODATA', '']) {
    const unknown = Object.assign(new Error('no'), { code })
    const resolve = async () => {
      if (code) throw unknown
      return [{ address: '10.0.0.1', family: 4 }]
    }
    const { check, download } = createPublicFetch({ allowCidrs: [], resolve })
    for (const refusal of [
      await check('https://db.internal/').catch((error: unknown) => error),
      await probing({ download })('https://db.internal/').catch((error: unknown) => error),
    ]) {
      assert.ok(refusal instanceof ServiceError)
      assert.equal(refusal.code, 'INVALID_AUDIO_URL')
      assert.equal(refusal.cause, code ? unknown : undefined, 'for the log')
      messages.add(refusal.message)
    }
  }
  assert.equal(messages.size, 1)
})

test('a name server that fails may answer later', async () => {
  const resolve = () => Promise.reject(Object.assign(new Error('no'), { syscall: 'queryA' }))
  const failing = createPublicFetch({ allowCidrs: [], resolve })
  const expected = { code: 'MEDIA_FETCH_FAILED', message: /could not be looked up/ }
  await assert.rejects(probing(failing)('https://example.com/'), expected)
})

test('a download writes the bytes and names the file', async (t) => {
  const { url: base } = await serve(t, (request, reply) => {
    if (request.url === '/named') {
      reply.setHeader('content-disposition', 'attachment; filename="../../my talk.mp3"')
    }
    reply.writeHead(200, { 'content-type': 'audio/mpeg' }).end('0123456789')
  })
  const path = join(await temporaryFolder(t), 'media')
  const expected = { bytes: 10, contentType: 'audio/mpeg' }
  const plain = await download(`${base}/a/b%20c.mp3?x=1`, { path, bytesMax: 10, signal })
  assert.deepEqual(plain, { ...expected, fileName: 'b c.mp3' })
  assert.equal(await readFile(path, 'utf8'), '0123456789')
  const named = await download(`${base}/named`, { path, bytesMax: 10, signal })
  assert.deepEqual(named, { ...expected, fileName: 'my talk.mp3' })
  const bare = await download(base, { path, bytesMax: 10, signal })
  assert.equal(bare.fileName, undefined)
})

test('a download that grows too large, breaks off or stalls leaves no file', async (t) => {
  const answers: Record<string, RequestListener> = {
    '/declared': (_request, reply) => reply.writeHead(200, { 'content-length': 99 }).end(),
    '/endless': (_request, reply) => {
      const timer = setInterval(() => reply.write(Buffer.alloc(1000)), 1)
      reply.on('close', () => clearInterval(timer))
    },
    '/short': (_request, reply) => {
      reply.writeHead(200, { 'content-length': 9 }).write('123')
      setTimeout(() => reply.destroy(), 20)
    },
    '/stalls': (_request, reply) => reply.write('123'),
  }
  const { url: base } = await serve(t, (request, reply) =>
    answers[request.url ?? '']?.(request, reply),
  )
  const folder = await temporaryFolder(t)
  const take = (path: string, bytesMax: number, by = download) =>
    by(`${base}${path}`, { path: join(folder, 'media'), bytesMax, signal })
  await assert.rejects(take('/declared', 98), { code: 'PAYLOAD_TOO_LARGE' })
  await assert.rejects(take('/endless', 5000), { code: 'PAYLOAD_TOO_LARGE' })
  await assert.rejects(take('/short', 98), { code: 'MEDIA_FETCH_FAILED', message: /broke off/ })
  await assert.rejects(take('/stalls', 98, hasty.download), {
    code: 'MEDIA_FETCH_FAILED',
    message: /in time/,
  })
  assert.deepEqual(await readdir(folder), [])
})

test("the caller can stop a download, and a full disk is not the source's fault", async (t) => {
  const { url: base } = await serve(t, (_request, reply) => reply.write('123'))
  const folder = await temporaryFolder(t)
  const controller = new AbortController()
  const reason = new Error('drained')
  setTimeout(() => controller.abort(reason), 50)
  const options = { path: join(folder, 'media'), bytesMax: 9, signal: controller.signal }
  await assert.rejects(download(base, options), reason)
  await assert.rejects(download(base, options), reason)
  const nowhere = { path: join(folder, 'missing', 'media'), bytesMax: 9, signal }
  await assert.rejects(download(base, nowhere), { code: 'ENOENT' })
})

test('an allow-list that is not of CIDRs fails at start', () => {
  assert.throws(() => createPublicFetch({ allowCidrs: ['intranet'] }), /CIDR/)
})
