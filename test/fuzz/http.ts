/**
 * Sends raw bytes over HTTP/1.1: damaged requests, several requests on one connection, and pairs that
 * two servers would split at different places (request smuggling: RFC 9112, 11.2).
 */

import assert from 'node:assert/strict'
import { fc } from '../support/basics/property.ts'
import { fuzzGateway } from './fuzz-gateway.ts'
import { mutate, mutation } from './mutations.ts'
import type { FuzzOptions, FuzzResult } from './result.ts'
import { ADMIN_TOKEN, API_KEY, type Target } from './target.ts'

const PIPELINE_MAX = 20
const HUGE_BYTES = 200_000

const AUTHORIZATION = `Authorization: Bearer ${API_KEY}`
const SUBMIT = 'POST /v1/queue/audio/separate HTTP/1.1'
const JSON_TYPE = 'Content-Type: application/json'

/** A request that leaves a trace if it is ever served: an account with this name. */
const SMUGGLED_NAME = 'smuggled'
const SMUGGLED_BODY = JSON.stringify({ name: SMUGGLED_NAME })
const SMUGGLED = [
  'POST /admin/accounts HTTP/1.1',
  'Host: x',
  `Authorization: Bearer ${ADMIN_TOKEN}`,
  JSON_TYPE,
  `Content-Length: ${SMUGGLED_BODY.length}`,
  '',
  SMUGGLED_BODY,
].join('\r\n')

/** Heads that state the length of their body wrongly, or in more than one way. */
const AMBIGUOUS_HEADS = [
  'Content-Length: N\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: N',
  'Content-Length: N\r\ntransfer-encoding: CHUNKED',
  'Content-Length: N\r\nContent-Length: 0',
  'Content-Length: 0\r\nContent-Length: N',
  'Content-Length: N\r\nContent-Length: N',
  'Content-Length: N, N',
  'Content-Length: 0, N',
  'Content-Length: +N',
  'Content-Length: -N',
  'Content-Length: 0xN',
  'Content-Length: N N',
  'Content-Length: N;x',
  'Content-Length: 1e2',
  'Content-Length: 99999999999999999999999',
  'Content-Length: ',
  'Content-Length : N',
  'Content-Length\t: N',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: chunked, xchunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: \u000bchunked',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: gzip',
  'X: y\r\n Content-Length: N',
  'X: y\r\n\tTransfer-Encoding: chunked',
  'Content-Length:\r\n N',
  'Transfer-Encoding:\r\n chunked',
  'X: y\nContent-Length: N',
  'X: y\rContent-Length: N',
  'X: y\u0000\r\nContent-Length: N',
  ': y\r\nContent-Length: N',
  'Content-Length N',
]

/** Chunked bodies that can be split in more than one way. */
const AMBIGUOUS_CHUNKS = [
  '0x5\r\nhello\r\n0\r\n\r\n',
  '+5\r\nhello\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  ' 5\r\nhello\r\n0\r\n\r\n',
  '5\nhello\r\n0\r\n\r\n',
  '5\rhello\r\n0\r\n\r\n',
  '5\r\nhello0\r\n\r\n',
  '5\r\nhelloX\r\n0\r\n\r\n',
  '5\r\nhello\n0\n\n',
  '10000000000000005\r\nhello\r\n0\r\n\r\n',
  'ffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  '5;a=b\nc\r\nhello\r\n0\r\n\r\n',
  '\r\nhello\r\n0\r\n\r\n',
  'z\r\nhello\r\n0\r\n\r\n',
]

const CHUNKED = [SUBMIT, 'Host: x', AUTHORIZATION, JSON_TYPE, 'Transfer-Encoding: chunked']

const headOf = (...lines: string[]): string => [...lines, '', ''].join('\r\n')

const ambiguousHead = fc
  .record({
    lines: fc.constantFrom(...AMBIGUOUS_HEADS),
    isChunked: fc.boolean(),
    isHidden: fc.boolean(),
  })
  .map(({ lines, isChunked, isHidden }) => {
    const hidden = isHidden ? SMUGGLED : ''
    const body = isChunked ? `0\r\n\r\n${hidden}` : hidden || 'hello'
    const stated = lines.replaceAll('N', String(body.length))
    return headOf(SUBMIT, 'Host: x', AUTHORIZATION, JSON_TYPE, stated) + body
  })

const ambiguousChunks = fc
  .constantFrom(...AMBIGUOUS_CHUNKS)
  .map((chunks) => headOf(...CHUNKED) + chunks + SMUGGLED)

type Case = (target: Target) => Promise<string>

/** Asserts that the gateway sees at most one request, and refuses it. */
const smuggling: fc.Arbitrary<Case> = fc.oneof(ambiguousHead, ambiguousChunks).map((text) =>
  named(text, async (target) => {
    const statuses = statusesOf(await target.exchange(Buffer.from(text, 'latin1')))
    await assertNoneSmuggled(target)
    assert.ok(statuses.length <= 1, `taken as ${statuses.length} requests: ${statuses.join()}`)
    assert.ok(statuses.length === 0 || statuses[0] === 400, `answered with ${statuses[0]}`)
    return statuses.length === 0 ? 'pair: closed' : 'pair: 400'
  }),
)

/** Asserts that pipelined requests are answered one by one, in their order. */
const pipelining: fc.Arbitrary<Case> = fc
  .array(fc.constantFrom('/healthz', '/v1/account', '/v1/models', '/no-such-path'), {
    minLength: 2,
    maxLength: PIPELINE_MAX,
  })
  .map((paths) =>
    named(paths.join(' '), async ({ exchange }) => {
      const requests = paths.map((path, i) =>
        headOf(`GET ${path} HTTP/1.1`, 'Host: x', AUTHORIZATION, `X-Request-Id: call-${i}`),
      )
      const text = (await exchange(Buffer.from(requests.join('')))).toString('latin1')
      const ids = [...text.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id)
      assert.deepEqual(
        ids,
        paths.map((_path, i) => `call-${i}`),
      )
      return 'pipeline: answered in order'
    }),
  )

const WHOLE = [
  headOf('GET /v1/models?x=1 HTTP/1.1', 'Host: x', AUTHORIZATION, 'Accept: */*'),
  headOf('GET /v1/queue/requests/req_1/status HTTP/1.1', 'Host: x', AUTHORIZATION),
  `${headOf(SUBMIT, 'Host: x', AUTHORIZATION, JSON_TYPE, 'Content-Length: 58')}` +
    '{"input":{"prompt":"a bell","file_id":"file_0123456789ab"}}'.slice(0, 58),
  `${headOf(...CHUNKED)}` + '5\r\n{"inp\r\n7\r\nut":{}}\r\n0\r\nX: y\r\n\r\n',
  headOf('PUT /media/inputs/file_1?signature=x HTTP/1.1', 'Host: x', 'Content-Length: 0'),
  headOf('OPTIONS * HTTP/1.1', 'Host: x', 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings'),
]

const damaged: fc.Arbitrary<Case> = fc
  .tuple(fc.constantFrom(...WHOLE), fc.array(mutation, { minLength: 1, maxLength: 6 }))
  .map(([whole, mutations]) => {
    const bytes = mutate(Buffer.from(whole), mutations)
    return named(JSON.stringify(bytes.toString('latin1')), (target) =>
      assertNoDefect(target, bytes),
    )
  })

const anyBytes: fc.Arbitrary<Case> = fc
  .uint8Array({ minLength: 1, maxLength: 300 })
  .map((bytes) =>
    named(Buffer.from(bytes).toString('hex'), (target) => assertNoDefect(target, bytes)),
  )

const huge: fc.Arbitrary<Case> = fc
  .record({
    bytes: fc.integer({ min: 10_000, max: HUGE_BYTES }),
    where: fc.constantFrom('path', 'name', 'value', 'many', 'trailer'),
  })
  .map(({ bytes, where }) => {
    const long = 'a'.repeat(bytes)
    const lines: Record<typeof where, string> = {
      path: headOf(`GET /${long} HTTP/1.1`, 'Host: x'),
      name: headOf('GET / HTTP/1.1', 'Host: x', `${long}: y`),
      value: headOf('GET / HTTP/1.1', 'Host: x', `X: ${long}`),
      many: headOf(
        'GET / HTTP/1.1',
        'Host: x',
        ...Array<string>(Math.floor(bytes / 4)).fill('a: b'),
      ),
      trailer: `${headOf(...CHUNKED)}0\r\nX: ${long}\r\n\r\n`,
    }
    return named(`${where} of ${bytes}`, (target) =>
      assertNoDefect(target, Buffer.from(lines[where])),
    )
  })

/** Asserts that the bytes are refused or answered, never with an internal error. */
async function assertNoDefect({ exchange }: Target, bytes: Uint8Array): Promise<string> {
  const statuses = statusesOf(await exchange(bytes))
  const defect = statuses.find((status) => status >= 500)
  assert.equal(defect, undefined)
  return statuses.length === 0 ? 'closed' : `${statuses[0]}`
}

/** Returns the statuses of all answers in these bytes. */
const statusesOf = (bytes: Buffer): number[] =>
  [...bytes.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** Gives the case a name, which fast-check shows if it fails. */
const named = (name: string, run: Case): Case =>
  Object.assign(run, { [fc.toStringMethod]: () => name })

const ANY = fc.oneof(
  { weight: 3, arbitrary: smuggling },
  { weight: 1, arbitrary: pipelining },
  { weight: 4, arbitrary: damaged },
  { weight: 1, arbitrary: anyBytes },
  { weight: 1, arbitrary: huge },
)

/** @returns the number of cases by outcome; @throws fast-check's error, with its seed */
export const fuzzHttp = (options: FuzzOptions): Promise<FuzzResult> =>
  fuzzGateway(ANY, options, async (target) => {
    await target.assertServes()
    await assertNoneSmuggled(target)
  })

async function assertNoneSmuggled({ winnow }: Target): Promise<void> {
  const reply = await fetch(`${winnow.url}/admin/accounts`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  const { data } = (await reply.json()) as { data: { name: string }[] }
  assert.deepEqual(
    data.filter(({ name }) => name === SMUGGLED_NAME),
    [],
  )
}
