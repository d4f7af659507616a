/**
 * Tries every known way into a private network, against live loopback servers that count
 * connections.
 */

import assert from 'node:assert/strict'
import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { isIPv6, type AddressInfo, type Socket } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { createPublicFetch } from '../../../../shared/http/public-fetch.ts'
import { ServiceError } from '../../../../shared/errors.ts'
import { probing } from '../../../support/http/probe.ts'
import { fc } from '../../../support/basics/property.ts'

const servers: Server[] = []
let port = 0
let connections = 0

/** Serves the same port on IPv4 and, if the machine has it, IPv6; connections to both count. */
before(async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer((_request, reply) => reply.end('the secret of the intranet'))
    server.on('connection', () => (connections += 1))
    server.listen(port, host)
    const isUp = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isUp) continue
    servers.push(server)
    port = (server.address() as AddressInfo).port
  }
})

beforeEach(() => (connections = 0))

after(() => servers.forEach((server) => server.close()))

/**
 * Makes a fetcher that treats the servers' port as public, so only the address can protect them.
 */
const fetcher = (
  answers: readonly string[] = ['93.184.216.34'],
  allowCidrs: readonly string[] = [],
) =>
  createPublicFetch({
    allowCidrs,
    ports: [443, port],
    limits: { connectMsMax: 300 },
    resolve: async () => answers.map(asLookupAddress),
  })

const asLookupAddress = (address: string): LookupAddress => ({
  address,
  family: isIPv6(address) ? 6 : 4,
})

const assertRefused = (url: string, work: Promise<unknown>) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof ServiceError, `${url}: ${String(error)}`)
    assert.equal(error.code, 'INVALID_AUDIO_URL', `${url}: ${error.message}`)
    return true
  })

/** The spellings of addresses that URLs allow; each is tried with the port of the live servers. */
const HOSTS = [
  // loopback
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0X7F.0.0.0X1',
  '017700000001',
  '0177.0.0.1',
  '0177.0x0.00.1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000::0001]',
  // private, link-local, carrier-grade NAT, metadata
  '10.0.0.1',
  '10.255.255.255',
  '0xa000001',
  '167772161',
  '012.0.0.1',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.0.1',
  '3232235521',
  '192.168.257',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.170.2',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  // reserved, multicast, broadcast
  '0.1.2.3',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '192.88.99.1',
  '192.31.196.1',
  '192.52.193.1',
  // IPv6: local and reserved
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[4000::1]',
  '[2001:2::1]',
  '[2001:20::1]',
  '[2620:4f:8000::1]',
  // IPv6: embedded IPv4 (mapped, compatible, translated, NAT64, 6to4, Teredo)
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::ffff:10.0.0.1]',
  '[::ffff:93.184.216.34]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a00:1]',
  '[64:ff9b:1::a00:1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2001:0:7f00:1::]',
  '[2001::1]',
  // scope ids
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  '[::1%25lo]',
]

/** URLs that are wrong for another reason than their address. */
const URLS = [
  'http://93.184.216.34/a.wav',
  'http://example.com/a.wav',
  'HTTP://example.com/a.wav',
  'https://user@example.com/a.wav',
  'https://user:secret@example.com/a.wav',
  'https://example.com:secret@127.0.0.1/a.wav',
  'https://93.184.216.34@127.0.0.1/',
  'https://example.com:22/a.wav',
  'https://example.com:6379/',
  'https://example.com:80/a.wav',
  'https://93.184.216.34:8443/',
  'file:///etc/passwd',
  'file://localhost/etc/passwd',
  'data:audio/wav;base64,UklGRg==',
  'ftp://example.com/a.wav',
  'gopher://127.0.0.1:6379/_PING',
  'javascript:alert(1)',
  'blob:https://example.com/1',
  'ws://example.com/',
  'unix:/run/docker.sock',
  'concat:/etc/passwd',
  '//example.com/a.wav',
  '/etc/passwd',
  'example.com/a.wav',
  'https://',
  '',
  ' ',
  'https://[::1',
  'https://256.256.256.256/',
  'https://127.0.0.1:99999/',
  'https://exa mple/',
]

/** Answers of a name server; names with any of these must be refused. */
const ANSWERS = [
  ['127.0.0.1'],
  ['::1'],
  ['0.0.0.0'],
  ['::'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['100.64.0.1'],
  ['::ffff:127.0.0.1'],
  ['::ffff:7f00:1'],
  ['64:ff9b::7f00:1'],
  ['fe80::1%lo'],
  ['fe80::1'],
  ['2606:4700::1%lo'],
  ['fd00:ec2::254'],
  ['93.184.216.34', '127.0.0.1'],
  ['127.0.0.1', '93.184.216.34'],
  ['2606:2800:220:1::1', '::1'],
  ['93.184.216.34', '10.0.0.1', '::1'],
  ['not an address'],
  [''],
  [],
]

const NAMES = [
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  'metadata.google.internal',
  'metadata',
  'instance-data',
  'kubernetes.default.svc',
  'router.local',
  '127.0.0.1.nip.io',
  'localtest.me',
]

test('no spelling of a private address is reached', async () => {
  const probe = probing(fetcher())
  for (const host of HOSTS) {
    for (const url of [`https://${host}:${port}/`, `http://${host}:${port}/`, `https://${host}/`]) {
      await assertRefused(url, probe(url))
    }
  }
  assert.equal(connections, 0)
})

test('no URL with another scheme, port or form is requested', async () => {
  for (const url of URLS) await assertRefused(url, probing(fetcher())(url))
  assert.equal(connections, 0)
})

test('a name with one private address is refused', async () => {
  for (const answers of ANSWERS) {
    const url = `https://files.example.com:${port}/`
    await assertRefused(answers.join(), probing(fetcher(answers))(url))
  }
  for (const name of NAMES) {
    await assertRefused(name, probing(fetcher(['127.0.0.1']))(`https://${name}:${port}/`))
  }
  assert.equal(connections, 0)
})

test('messages do not contain the address of a name', async () => {
  await assert.rejects(probing(fetcher(['10.11.12.13']))('https://wiki.corp/'), (error: Error) => {
    assert.doesNotMatch(error.message, /10\.11/)
    return true
  })
})

test('a name that changes its address is refused at the change, even if it was allowed before', async () => {
  const answers = [['127.0.0.2'], ['127.0.0.1']]
  const probe = probing(
    createPublicFetch({
      allowCidrs: ['127.0.0.2/32'],
      resolve: async () => (answers.shift() ?? []).map(asLookupAddress),
    }),
  )
  const url = `http://rebinding.example.com:${port}/`
  await assert.rejects(probe(url), { code: 'MEDIA_FETCH_FAILED' }) // allowed, but nobody listens there
  await assertRefused(url, probe(url))
  assert.equal(connections, 0)
})

test('the connected socket is checked too: no byte is sent on it', async (t) => {
  const sockets: Socket[] = []
  const note = (socket: Socket) => void sockets.push(socket)
  servers[0]?.on('connection', note)
  t.after(() => servers[0]?.off('connection', note))
  for (const scheme of ['http', 'https']) {
    let reads = 0
    const twoFaced: LookupAddress = {
      get address() {
        return (reads += 1) === 1 ? '127.0.0.2' : '127.0.0.1'
      },
      family: 4,
    }
    const probe = probing(
      createPublicFetch({
        allowCidrs: ['127.0.0.2/32'],
        ports: [443, port],
        resolve: async () => [twoFaced],
      }),
    )
    await assertRefused('two-faced', probe(`${scheme}://two-faced.example.com:${port}/`))
  }
  while (sockets.length < 2 || !sockets.every(({ closed }) => closed))
    await new Promise(setImmediate)
  assert.deepEqual(
    sockets.map(({ bytesRead }) => bytesRead),
    [0, 0],
  )
})

test('a redirect to any of these is refused', async (t) => {
  const targets = [
    ...HOSTS.map((host) => `https://${host}:${port}/`),
    ...URLS.filter(isAbsolute),
    'https://internal.example.com/',
  ]
  let calls = 0
  const server = createServer((request, reply) => {
    calls += 1
    const location = targets[Number(request.url?.slice(1))] ?? ''
    reply.writeHead(302, { location: Buffer.from(location).toString('latin1') }).end()
  })
  server.listen(0, '127.0.0.2')
  await once(server, 'listening')
  t.after(() => server.close())
  const probe = probing(fetcher(['10.0.0.1'], ['127.0.0.2/32']))
  const start = `http://127.0.0.2:${(server.address() as AddressInfo).port}`
  for (const [index, target] of targets.entries()) {
    await assertRefused(`redirect to ${target}`, probe(`${start}/${index}`))
  }
  assert.equal(calls, targets.length)
  assert.equal(connections, 0)
})

/** Relative URLs lead to the redirecting server, which may be asked. */
const isAbsolute = (url: string) => /^[a-z]+:/i.test(url)

test('property: a private IPv4 address is refused however it is spelled', async () => {
  const blocks: readonly [string, number, number][] = [
    ['10', 0x0a000000, 8],
    ['127', 0x7f000000, 8],
    ['172.16', 0xac100000, 12],
    ['0', 0, 8],
    ['192.168', 0xc0a80000, 16],
    ['169.254', 0xa9fe0000, 16],
    ['100.64', 0x64400000, 10],
    ['multicast', 0xe0000000, 4],
    ['reserved', 0xf0000000, 4],
    ['198.18', 0xc6120000, 15],
  ]
  const address = fc
    .tuple(fc.constantFrom(...blocks), fc.nat(0xffffffff))
    .map(([[, base, bits], random]) => base + (random % 2 ** (32 - bits)))
  const probe = probing(fetcher())
  await fc.assert(
    fc.asyncProperty(address, fc.constantFrom(...SPELLINGS), async (number, spell) => {
      await assertRefused(spell(number), probe(`https://${spell(number)}:${port}/`))
    }),
    { numRuns: 1000 },
  )
  assert.equal(connections, 0)
})

const bytesOf = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255)
const hex = (number: number) => `0x${number.toString(16)}`
const octal = (number: number) => `0${number.toString(8)}`
const pairs = (number: number) => `${(number >>> 16).toString(16)}:${(number & 65535).toString(16)}`

const SPELLINGS: readonly ((number: number) => string)[] = [
  (number) => bytesOf(number).join('.'),
  (number) => `${bytesOf(number).join('.')}.`,
  (number) => bytesOf(number).map(hex).join('.'),
  (number) => bytesOf(number).map(octal).join('.'),
  (number) =>
    bytesOf(number)
      .map((byte, i) => [hex, octal, String][i % 3]?.(byte))
      .join('.'),
  (number) => `${bytesOf(number).slice(0, 2).join('.')}.${number & 65535}`,
  (number) => `${number >>> 24}.${number & 0xffffff}`,
  (number) => String(number),
  hex,
  octal,
  (number) => `[::ffff:${bytesOf(number).join('.')}]`,
  (number) => `[::ffff:${pairs(number)}]`,
  (number) => `[::${pairs(number)}]`,
  (number) => `[64:ff9b::${pairs(number)}]`,
  (number) => `[64:ff9b:1::${pairs(number)}]`,
  (number) => `[2002:${pairs(number)}::1]`,
]

test('control: the same servers are reached by http and https if allow-listed', async () => {
  const probe = probing(fetcher(['127.0.0.1'], ['127.0.0.0/8', '::1/128']))
  assert.equal((await probe(`http://127.0.0.1:${port}/`)).bytes, 26)
  assert.equal((await probe(`http://name.example.com:${port}/`)).bytes, 26)
  const overTls = probe(`https://127.0.0.1:${port}/`) // the server does not speak TLS
  await assert.rejects(overTls, { code: 'MEDIA_FETCH_FAILED' })
  assert.equal(connections, 3)
})
