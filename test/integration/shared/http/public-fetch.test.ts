import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ServiceError } from '../../../../shared/errors.ts'
import { createPublicFetch } from '../../../../shared/http/public-fetch.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { probing } from '../../../support/http/probe.ts'
import { serve } from '../../../support/http/serve.ts'

const ALLOWED = { allowCidrs: ['127.0.0.0/8'] }
const { check, download } = createPublicFetch(ALLOWED)
const probe = probing({ download })
const hasty = createPublicFetch({ ...ALLOWED, limits: { firstByteMsMax: 100, silenceMsMax: 100 } })

const signal = new AbortController().signal

test('a check only asks name servers, and refuses names without a public address', async () => {
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
  await check('http://127.0.0.1:1/') // allowed, although nobody listens
  const aborted = AbortSignal.abort(new Error('gone'))
  await assert.rejects(checks.check('https://slow.example/', { signal: aborted }), /gone/)
})

test('at most twenty redirects are followed', async (t) => {
  const { url: base } = await serve(t, (request, reply) => {
    const left = Number(request.url?.slice(1))
    if (left === 0) return reply.end('done')
    return reply.writeHead(302, { location: `/${left - 1}` }).end()
  })
  assert.equal((await probe(`${base}/20`)).bytes, 4)
  await assert.rejects(probe(`${base}/21`), { code: 'MEDIA_FETCH_FAILED', message: /more than 20/ })
})

test("each of many redirects is checked, so the last can't lead inward either", async (t) => {
  const { url: base, requests } = await countingServer(t, (request, reply) => {
    const left = Number(request.url?.slice(1))
    const location = left > 0 ? `/${left - 1}` : 'http://10.0.0.1/secret.wav'
    return reply.writeHead(302, { location }).end()
  })
  await assert.rejects(probe(`${base}/15`), {
    code: 'INVALID_AUDIO_URL',
    message: /must use https/,
  })
  assert.equal(requests.length, 16)
})

test('an address is encoded as browsers do, and so is one that a server redirects to', async (t) => {
  const { url: base, requests } = await countingServer(t, (request, reply) => {
    if (!request.url?.startsWith('/moved')) return reply.end('done')
    const location = Buffer.from('/Füße 100%.mp3').toString('latin1') // raw UTF-8, as sent by nginx
    return reply.writeHead(302, { location }).end()
  })
  const path = '/F%C3%BC%C3%9Fe%20100%.mp3'
  const addresses = ['/Füße 100%.mp3', '/F%C3%BC%C3%9Fe 100%.mp3', '/moved']
  for (const address of addresses) assert.equal((await probe(` ${base}${address}\n`)).bytes, 4)
  assert.deepEqual(requests, [path, path, '/moved', path])
})

async function countingServer(t: TestContext, listener: RequestListener) {
  const requests: string[] = []
  const { url } = await serve(t, (request, reply) => {
    requests.push(request.url ?? '')
    listener(request, reply)
  })
  return { url, requests }
}

const UNCHANGED = [
  '',
  'identity',
  'aws-chunked',
  'binary',
  'none',
  'UTF-8',
  'identity, aws-chunked',
]
const COMPRESSED = ['gzip', 'GZIP', 'x-gzip', 'br', 'deflate', 'zstd', 'aws-chunked,gzip']

test('a Content-Encoding that compresses nothing is ignored', async (t) => {
  const codings = [...UNCHANGED, ...COMPRESSED]
  const { url: base } = await serve(t, (request, reply) => {
    const coding = codings[Number(request.url?.slice(1))]!
    reply.writeHead(200, { 'content-encoding': coding }).end('done')
  })
  for (const [index, coding] of codings.entries()) {
    const answer = probe(`${base}/${index}`)
    if (UNCHANGED.includes(coding)) assert.equal((await answer).bytes, 4, coding)
    else await assert.rejects(answer, { code: 'MEDIA_FETCH_FAILED', message: /compressed/ }, coding)
  }
})

test('a server may state any type', async (t) => {
  const types = ['audio/wav', 'text/plain', 'text/html; charset=utf-8', 'image/png', '', 'nonsense']
  const { url: base } = await serve(t, (request, reply) => {
    reply.writeHead(200, { 'content-type': types[Number(request.url?.slice(1))]! }).end('x')
  })
  for (const index of types.keys()) assert.equal((await probe(`${base}/${index}`)).bytes, 1)
})

test('faults of remote servers are MEDIA_FETCH_FAILED', async (t) => {
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
  await assert.rejects(probe(`${base}/missing`), failed(/returned 404/))
  await assert.rejects(probe(`${base}/broken`), failed(/returned 500/))
  await assert.rejects(probe(`${base}/nowhere`), failed(/returned 302/))
  await assert.rejects(probing(hasty)(`${base}/silent`), failed(/in time/))
  await assert.rejects(probe(`${base}/hangs-up`), failed(/broke off/))
  await assert.rejects(probe(`${base}/zipped`), failed(/compressed/))
  await assert.rejects(probe('http://127.0.0.1:1/'), failed(/connection failed/))
})

test('neither a download nor a check reveals whether a name is unknown or private', async () => {
  const messages = new Set<string>()
  for (const code of ['ENOTFOUND', 'ENODATA', 'EBADNAME', '']) {
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

const DISPOSITIONS: readonly [string, string | undefined][] = [
  ['attachment; filename="my talk.mp3"', 'my talk.mp3'],
  ['inline; filename=talk.mp3', 'talk.mp3'],
  ['attachment; filename="../../C:\\\\my talk.mp3"', 'my talk.mp3'],
  [
    'attachment; filename="na?ve.mp3"; filename*=UTF-8\'\'na%C3%AFve%20%E2%82%AC.mp3',
    'naïve €.mp3',
  ],
  ["attachment; filename*=iso-8859-1'de'F%FC%DFe.mp3", 'Füße.mp3'],
  [Buffer.from('attachment; filename="Füße.mp3"').toString('latin1'), 'Füße.mp3'], // UTF-8
  ['attachment; filename="Füße.mp3"', 'Füße.mp3'], // Latin-1
  ['attachment; filename="folder/"', undefined],
  ['attachment', undefined],
  ['attachment; filename', undefined],
]

test('a download writes the bytes, and takes the name from Content-Disposition', async (t) => {
  const { url: base } = await serve(t, (request, reply) => {
    const header = DISPOSITIONS[Number(request.url?.slice(1))]?.[0]
    if (header !== undefined) reply.setHeader('content-disposition', header)
    reply.writeHead(200, { 'content-type': 'audio/mpeg' }).end('0123456789')
  })
  const path = join(temporaryFolder(t), 'media')
  const plain = await download(`${base}/a.mp3`, { path, bytesMax: 10, signal })
  assert.deepEqual(plain, { bytes: 10, fileName: undefined })
  assert.equal(await readFile(path, 'utf8'), '0123456789')
  for (const [index, [header, fileName]] of DISPOSITIONS.entries()) {
    assert.equal((await probe(`${base}/${index}`)).fileName, fileName, header)
  }
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
  const folder = temporaryFolder(t)
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
  const folder = temporaryFolder(t)
  const controller = new AbortController()
  const reason = new Error('drained')
  setTimeout(() => controller.abort(reason), 50)
  const options = { path: join(folder, 'media'), bytesMax: 9, signal: controller.signal }
  await assert.rejects(download(base, options), reason)
  await assert.rejects(download(base, options), reason)
  const nowhere = { path: join(folder, 'missing', 'media'), bytesMax: 9, signal }
  await assert.rejects(download(base, nowhere), { code: 'ENOENT' })
})

test('an allow-list of anything but CIDRs fails at start', () => {
  assert.throws(() => createPublicFetch({ allowCidrs: ['intranet'] }), /CIDR/)
})
