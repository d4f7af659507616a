/** Serves one tiny HTDemucs checkpoint, and provides its catalogue entry. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { CatalogueEntry } from '../../../engine/installing/catalogue.ts'

const NAME = '000003bb-feeb7c97.th'

export const TINY_CHECKPOINT = fileURLToPath(
  new URL(`../../fixtures/htdemucs/model/${NAME}`, import.meta.url),
)
export const TINY_FILE = readFileSync(TINY_CHECKPOINT)
export const TINY_SHA256 = createHash('sha256').update(TINY_FILE).digest('hex')

/** Returns true if it has answered the request itself; `count` is the number of requests so far. */
type HostAnswer = (request: IncomingMessage, response: ServerResponse, count: number) => boolean

/** Starts a host that supports resumed downloads; `answer` may handle requests differently. */
export async function startModelHost(
  t: Pick<TestContext, 'after'>,
  answer: HostAnswer = () => false,
) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    if (answer(request, response, requests.length)) return
    response.setHeader('etag', '"one"')
    const from = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]
    const isSame = request.headers['if-range'] === '"one"'
    const body = from !== undefined && isSame ? TINY_FILE.subarray(Number(from)) : TINY_FILE
    response.writeHead(body === TINY_FILE ? 200 : 206, { 'content-length': body.length })
    response.end(body)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const entry: CatalogueEntry = {
    name: 'tiny',
    kind: 'htdemucs',
    summary: 'Tiny.',
    files: [{ name: NAME, url: `http://127.0.0.1:${port}/a`, sha256: TINY_SHA256 }],
    megabytes: 1,
    licence: {
      code: 'MIT',
      weights: 'For this test only.',
      word: 'test only',
      url: 'https://example.com/licence',
    },
    quality: 'none',
    secondsPerMinute: 3,
  }
  return { entry, requests }
}
