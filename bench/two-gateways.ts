/**
 * Question: how long does a submit take on two gateways with one PostgreSQL, compared with one
 * gateway with SQLite, and how late is a status stream of one gateway updated with what the other
 * did?
 *
 * `node --import tsx bench/two-gateways.ts [per second] [seconds] [rounds]`: both run all the time,
 * on the same disk and with durable commits, and are loaded in turns. The stream is on one gateway,
 * a cancel on the other; its delay is from when the cancel was sent, its own call included.
 */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../clients/typescript/node.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { examplePath } from '../test/support/media/examples.ts'
import { startPostgres } from '../test/support/database/start-postgres.ts'
import { API_KEY, startWinnow } from '../test/support/processes/start-winnow.ts'
import { quantile, report, round } from './report.ts'
import { endSubmits, submitFor } from './submit-load.ts'

const perSecond = Number(process.argv[2] ?? 200)
const seconds = Number(process.argv[3] ?? 10)
const rounds = Number(process.argv[4] ?? 3)
const WARM_UP_SECONDS = 3
const CANCELS = 50

const scope = createScope()
const env = { QUEUE_MAX: '1000000', DRAIN_SECONDS: '0' }
const small = await startWinnow(scope, { engines: 0, env })
const postgres = await startPostgres({ settings: [] })
const keyFile = join(small.folder, 'key-of-two')
await writeFile(keyFile, randomBytes(32).toString('base64'))
const shared = await startWinnow(scope, {
  engines: 0,
  env: {
    ...env,
    DATABASE_URL: postgres.urlOf('postgres'),
    SIGNING_KEY_FILE: keyFile,
    ENCRYPTION_KEY_FILE: keyFile,
  },
})
const firstUrl = shared.url
const secondUrl = (await shared.startGateway({ PORT: '0' })).ready.address ?? ''

const cases = [
  { name: 'one gateway, SQLite', urls: [small.url] },
  { name: 'two gateways, PostgreSQL', urls: [firstUrl, secondUrl] },
].map((one) => ({ ...one, ms: [] as number[], failed: 0 }))
for (const one of cases) await load(one.urls, WARM_UP_SECONDS)
const loadBefore = loadavg()[0] ?? 0
for (let turn = 0; turn < rounds; turn += 1) {
  for (const one of cases) {
    const { ms, failed } = await load(one.urls, seconds)
    one.ms.push(...ms)
    one.failed += failed
  }
}
for (const { name, ms, failed } of cases) {
  report(`submit latency: ${name}`, {
    per_second: perSecond,
    seconds: seconds * rounds,
    n: ms.length,
    failed,
    p50_ms: round(quantile(ms, 0.5)),
    p99_ms: round(quantile(ms, 0.99)),
    worst_ms: round(Math.max(...ms)),
    load_before: round(loadBefore),
    load_after: round(loadavg()[0] ?? 0),
  })
}
const delays = await streamDelays()
report('a stream sends what another gateway did', {
  n: delays.length,
  p50_ms: round(quantile(delays, 0.5)),
  p99_ms: round(quantile(delays, 0.99)),
  worst_ms: round(Math.max(...delays)),
})

endSubmits()
await scope.end()
await postgres.stop('SIGINT')

async function load(urls: readonly string[], lengthSeconds: number) {
  const client = createClient({ baseUrl: urls[0]!, apiKey: API_KEY })
  const fileId = await client.upload(examplePath('speech-over-piano.wav'), 'audio/wav')
  const body = JSON.stringify({ input: { prompt: 'piano', file_id: fileId } })
  return submitFor({ urls, apiKey: API_KEY, body, perSecond, seconds: lengthSeconds })
}

async function streamDelays(): Promise<number[]> {
  const [here, there] = [firstUrl, secondUrl].map((baseUrl) =>
    createClient({ baseUrl, apiKey: API_KEY }),
  )
  const fileId = await here!.upload(examplePath('speech-over-piano.wav'), 'audio/wav')
  const delays: number[] = []
  for (let i = 0; i < CANCELS; i += 1) {
    const submitted = await here!.submit({ input: { prompt: 'piano', file_id: fileId } })
    let sentAt = 0
    for await (const { status } of there!.follow(submitted)) {
      if (status === 'FAILED') delays.push(performance.now() - sentAt)
      else if (sentAt === 0) {
        sentAt = performance.now()
        void here!.cancel(submitted)
      }
    }
  }
  return delays
}
