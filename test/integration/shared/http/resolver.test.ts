import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createPublicFetch } from '../../../../shared/http/public-fetch.ts'
import { createResolver } from '../../../../shared/http/resolver.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'
import { startNameServer } from '../../../support/http/name-server.ts'
import { probing } from '../../../support/http/probe.ts'
import { serve } from '../../../support/http/serve.ts'

const { signal } = new AbortController()

async function temporaryFile(t: TestContext, text: string): Promise<string> {
  const folder = temporaryFolder(t)
  await writeFile(join(folder, 'file'), text)
  return join(folder, 'file')
}

const NO_FILES = { hostsPath: '/nonexistent/hosts', settingsPath: '/nonexistent/resolv.conf' }

/** Starts a name server that never answers for `slow.example`. */
const startSlowServer = (t: TestContext) =>
  startNameServer(t, (name) => (name.endsWith('slow.example') ? 'silence' : ['127.0.0.1']))

test(
  "names at slow servers stop neither other names nor the system's look-ups",
  { timeout: 60_000 },
  async (t) => {
    const { server, whenAsked } = await startSlowServer(t)
    const { url } = await serve(t, (_request, reply) => reply.end('x'))
    const { port } = new URL(url)
    const resolve = createResolver({ servers: [server], ...NO_FILES })
    const probe = probing(createPublicFetch({ allowCidrs: ['127.0.0.0/8'], resolve }))
    const controller = new AbortController()
    let settled = 0
    const slow = Array.from({ length: 40 }, (_, i) =>
      probe(`http://${i}.slow.example:${port}/`, { signal: controller.signal }).finally(() => {
        settled += 1
      }),
    )
    await whenAsked(40)
    assert.equal((await lookup('localhost')).family > 0, true)
    assert.equal((await probe(`http://fast.example:${port}/`)).bytes, 1)
    assert.equal(settled, 0, 'all the slow ones are still waited for')
    const reason = new Error('the client is gone')
    controller.abort(reason)
    await Promise.all(slow.map((probe) => assert.rejects(probe, reason)))
  },
)

test('a silent name server is waited for no longer than configured', async (t) => {
  const { server } = await startSlowServer(t)
  const resolve = createResolver({ servers: [server], ...NO_FILES, resolveMsMax: 50 })
  await assert.rejects(resolve('slow.example', signal), { code: 'ETIMEOUT' })
  const probe = probing(createPublicFetch({ allowCidrs: [], resolve }))
  await assert.rejects(probe('https://slow.example/'), {
    code: 'MEDIA_FETCH_FAILED',
    message: /its name server did not answer in time/,
  })
})

test('a private address is refused when a name server returns it', async (t) => {
  const { server } = await startNameServer(t, (name) =>
    name === 'both.example' ? ['93.184.216.34', '10.0.0.1'] : ['127.0.0.1'],
  )
  const resolve = createResolver({ servers: [server], ...NO_FILES })
  const probe = probing(createPublicFetch({ allowCidrs: [], resolve }))
  for (const name of ['private.example', 'both.example']) {
    await assert.rejects(probe(`https://${name}/`), { code: 'INVALID_AUDIO_URL' }, name)
  }
})

test('a name is found in the hosts file first, whatever its case', async (t) => {
  const { server, whenAsked } = await startNameServer(t, () => ['192.0.2.1'])
  const hostsPath = await temporaryFile(
    t,
    [
      '# 10.0.0.9 store.corp',
      '10.0.0.7\tStore.corp store # ours',
      'fd00::7 store',
      '300.1.1.1 store',
      '',
    ].join('\n'),
  )
  const resolve = createResolver({ servers: [server], ...NO_FILES, hostsPath })
  assert.deepEqual(await resolve('STORE.corp.', signal), [{ address: '10.0.0.7', family: 4 }])
  assert.deepEqual(await resolve('store', signal), [
    { address: '10.0.0.7', family: 4 },
    { address: 'fd00::7', family: 6 },
  ])
  assert.deepEqual(await resolve('ours', signal), [{ address: '192.0.2.1', family: 4 }])
  assert.deepEqual(await whenAsked(1), ['ours'])
})

test('a name that does not exist as it is is looked up in the search domains', async (t) => {
  const addresses: Record<string, string[]> = {
    'media.studio.corp': ['10.0.0.8'],
    'plain.example': ['192.0.2.1'],
    'plain.example.corp': ['192.0.2.2'],
  }
  const { server, whenAsked } = await startNameServer(t, (name) => addresses[name] ?? [])
  const settingsPath = await temporaryFile(
    t,
    'nameserver 192.0.2.53\ndomain old.corp\nsearch corp studio.corp .\n',
  )
  const resolve = createResolver({ servers: [server], ...NO_FILES, settingsPath })
  assert.deepEqual(await resolve('media', signal), [{ address: '10.0.0.8', family: 4 }])
  assert.deepEqual(await whenAsked(3), ['media', 'media.corp', 'media.studio.corp'])
  assert.deepEqual(await resolve('plain.example', signal), [{ address: '192.0.2.1', family: 4 }])
  await assert.rejects(resolve('media.', signal), { code: 'ENOTFOUND' })
  await assert.rejects(resolve('nothing', signal), { code: 'ENOTFOUND' })
})

test('a name server without addresses of one family, or without an answer for it, still gives the other', async (t) => {
  const { server } = await startNameServer(t, (_name, family) =>
    family === 6 ? 'silence' : ['192.0.2.1'],
  )
  const resolve = createResolver({ servers: [server], ...NO_FILES, resolveMsMax: 1_000 })
  assert.deepEqual(await resolve('old.example', signal), [{ address: '192.0.2.1', family: 4 }])
})
