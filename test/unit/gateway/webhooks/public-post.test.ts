import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ServiceError } from '../../../../shared/errors.ts'
import { networkOf } from '../../../../shared/http/public-address.ts'
import { createPublicPost } from '../../../../gateway/webhooks/public-post.ts'
import { createResolver } from '../../../../shared/http/resolver.ts'
import { startNameServer } from '../../../support/http/name-server.ts'
import { serve } from '../../../support/http/serve.ts'

const ALLOWED = { allowCidrs: ['127.0.0.0/8'] }
const { check, post } = createPublicPost(ALLOWED)

const message = {
  headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
  body: Buffer.from('{}'),
  accountId: 'a',
}
const signal = new AbortController().signal

const addresses =
  (...list: string[]) =>
  async () =>
    list.map((address) => ({ address, family: 4 }))

test('a post carries body and headers, and returns status and Retry-After', async (t) => {
  let seen: { request: IncomingMessage; body: string } | undefined
  const { url: base } = await serve(t, async (request, reply) => {
    seen = { request, body: await text(request) }
    reply.writeHead(503, { 'retry-after': '7' }).end('busy')
  })
  const body = Buffer.from('{"a":"ü"}')
  const outcome = await post(`${base}/hook?x=1`, { ...message, body }, signal)
  assert.deepEqual(outcome, { status: 503, retryAfter: '7' })
  assert.equal(seen?.body, '{"a":"ü"}')
  const { method, url, headers } = seen?.request ?? {}
  assert.deepEqual([method, url], ['POST', '/hook?x=1'])
  assert.equal(headers?.['content-type'], 'application/json')
  assert.equal(headers?.['content-length'], '10')
  assert.equal(headers?.['webhook-id'], 'msg_1')
})

test('a redirect is not followed', async (t) => {
  const asked: string[] = []
  const { url: base } = await serve(t, (request, reply) => {
    asked.push(request.url ?? '')
    reply.writeHead(307, { location: '/elsewhere' }).end()
  })
  assert.deepEqual(await post(`${base}/`, message, signal), { status: 307, retryAfter: undefined })
  assert.deepEqual(asked, ['/'])
})

test('an answer without end counts by its status', async (t) => {
  let isClosed = false
  const { url: base } = await serve(t, (_request, reply) => {
    const timer = setInterval(() => reply.write(Buffer.alloc(16_000)), 1)
    reply.on('close', () => {
      isClosed = true
      clearInterval(timer)
    })
  })
  assert.deepEqual(await post(base, message, signal), { status: 200, retryAfter: undefined })
  while (!isClosed) await new Promise(setImmediate)
})

test('what goes wrong on the way is reported without addresses', async (t) => {
  const within = (postMsMax: number) => createPublicPost({ ...ALLOWED, limits: { postMsMax } })
  const { url: base } = await serve(t, (request, reply) => {
    if (request.url === '/hangs-up') request.socket.destroy()
    if (request.url === '/drips') reply.writeHead(200).write('x')
  })
  const problem = async (url: string, { post } = within(15_000)) => {
    const outcome = await post(url, message, signal)
    return 'problem' in outcome ? outcome.problem : `status ${outcome.status}`
  }
  assert.equal(
    await problem(`${base}/silent`, within(100)),
    'webhookUrl could not be reached: it took longer than 0.1 seconds.',
  )
  assert.equal(await problem(`${base}/drips`, within(1_000)), 'status 200') // the status is all that counts
  const broken = 'webhookUrl could not be reached: the connection failed or broke off.'
  assert.equal(await problem(`${base}/hangs-up`), broken)
  assert.equal(await problem('http://127.0.0.1:1/'), broken)
})

test('a caller that gives up is answered at once', async (t) => {
  const controller = new AbortController()
  const { url: base } = await serve(t, () => controller.abort())
  assert.ok('problem' in (await post(base, message, controller.signal)), 'in the middle')
  assert.ok('problem' in (await post(base, message, controller.signal)), 'before')
})

test('one try takes 15 seconds at most', async (t) => {
  const resolve = () => new Promise<never>(() => {})
  const { post } = createPublicPost({
    allowCidrs: [],
    resolve,
    limits: { connectMsMax: 86_400_000 },
  })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const outcome = post('https://example.com/', message, signal)
  let isSettled = false
  void outcome.then(() => {
    isSettled = true
  })
  t.mock.timers.tick(14_999)
  await new Promise(setImmediate)
  assert.equal(isSettled, false)
  t.mock.timers.tick(1)
  assert.deepEqual(await outcome, {
    problem: 'webhookUrl could not be reached: it took longer than 15 seconds.',
  })
})

const WRONG = [
  'http://example.com/',
  'ftp://example.com/',
  'https://user:secret@example.com/',
  'https://example.com:8443/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://10.0.0.1/',
  'https://169.254.169.254/',
  'https://0x7f000001/',
  'https://[::ffff:127.0.0.1]/',
  'nonsense',
  '',
]

test('nothing is posted to what is not public, and a name is looked up at the check', async () => {
  const isPublic = createPublicPost({ allowCidrs: [], resolve: addresses('93.184.216.34') })
  const refusal = { code: 'INVALID_WEBHOOK_URL', param: 'webhookUrl', message: /^webhookUrl / }
  for (const url of WRONG) {
    await assert.rejects(isPublic.check(url), refusal, url)
    const outcome = await isPublic.post(url, message, signal)
    assert.match('problem' in outcome ? outcome.problem : '', /^webhookUrl (must|is not)/, url)
  }
  await isPublic.check('https://example.com/hook')
  for (const bad of [['10.11.12.13'], ['93.184.216.34', '127.0.0.1'], ['169.254.169.254'], []]) {
    const isPrivate = createPublicPost({ allowCidrs: [], resolve: addresses(...bad) })
    await assert.rejects(isPrivate.check('https://example.com/hook'), (error: Error) => {
      assert.match(error.message, /^webhookUrl must lead to a public address/)
      assert.doesNotMatch(error.message, /10\.11/)
      return true
    })
    const outcome = await isPrivate.post('https://example.com/hook', message, signal)
    assert.match('problem' in outcome ? outcome.problem : '', /must lead to a public address/)
  }
})

test('an allow-listed network may use http and any port', async () => {
  await check('http://127.0.0.1:9/hook')
  const intranet = createPublicPost({ ...ALLOWED, resolve: addresses('127.0.0.1') })
  await intranet.check('http://hooks.corp:8080/')
  await intranet.check('https://hooks.corp/')
  const outside = createPublicPost({ ...ALLOWED, resolve: addresses('93.184.216.34') })
  await assert.rejects(outside.check('http://hooks.corp:8080/'), { code: 'INVALID_WEBHOOK_URL' })
})

test('posts to one address are bounded, whatever names lead there, and accounts share them', async (t) => {
  const held: ServerResponse[] = []
  let wake = () => {}
  const { url } = await serve(t, (_request, reply) => {
    held.push(reply)
    wake()
  })
  const whenHeld = async (count: number) => {
    while (held.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  const { post } = createPublicPost({
    allowCidrs: ['127.0.0.0/8'],
    resolve: addresses('127.0.0.1'),
    limits: { addressPostsMax: 4 },
  })
  let names = 0
  const send = (accountId: string) =>
    post(`http://${names++}.example:${new URL(url).port}/`, { ...message, accountId }, signal)
  const busy = {
    problem: 'webhookUrl could not be reached: too many concurrent posts to this host.',
    isBusy: true,
  }
  const first = [send('a'), send('a')]
  await whenHeld(2)
  assert.deepEqual(await send('a'), busy, 'half of them')
  const others = [send('b')]
  await whenHeld(3)
  assert.deepEqual(await send('b'), busy)
  assert.equal(held.length, 3, 'nothing was sent')
  held.forEach((reply) => reply.end())
  const outcomes = await Promise.all([...first, ...others])
  assert.deepEqual(
    outcomes,
    outcomes.map(() => ({ status: 200, retryAfter: undefined })),
  )
  const again = send('a')
  await whenHeld(4)
  held[3]!.end()
  assert.deepEqual(await again, { status: 200, retryAfter: undefined })
})

test('one host is an address of IPv4, or a /64 of IPv6', () => {
  assert.equal(networkOf('93.184.216.34'), '93.184.216.34')
  assert.equal(networkOf('::ffff:93.184.216.34'), '93.184.216.34')
  assert.equal(networkOf('2606:4700:1:2::1'), networkOf('2606:4700:1:2:ffff::9'))
  assert.notEqual(networkOf('2606:4700:1:2::1'), networkOf('2606:4700:1:3::1'))
  assert.equal(networkOf(''), '')
})

test('an unknown name is refused as one that leads to a private address', async () => {
  const answers = new Set<string>()
  for (const address of [undefined, '10.0.0.1']) {
    const resolve = async () => {
      if (address === undefined) throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
      return [{ address, family: 4 }]
    }
    const { check, post } = createPublicPost({ allowCidrs: [], resolve })
    const refused = await check('https://db.internal/').catch((error: unknown) => error)
    assert.ok(refused instanceof ServiceError)
    assert.equal(refused.code, 'INVALID_WEBHOOK_URL')
    answers.add(JSON.stringify({ problem: refused.message }))
    answers.add(JSON.stringify(await post('https://db.internal/', message, signal)))
  }
  assert.equal(answers.size, 1, [...answers].join(' '))
})

test('a name that does not resolve in time may do so later', async (t) => {
  const { server, whenAsked } = await startNameServer(t, () => 'silence')
  const silent = (resolveMsMax: number) =>
    createPublicPost({
      allowCidrs: [],
      resolve: createResolver({ servers: [server], resolveMsMax }),
    })
  await silent(10).check('https://slow.example/')
  const [controller, reason] = [new AbortController(), new Error('the client is gone')]
  const check = silent(600_000).check('https://gone.example/', { signal: controller.signal })
  await whenAsked(2)
  controller.abort(reason)
  await assert.rejects(check, reason)
})
