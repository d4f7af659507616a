/**
 * Question: where do the milliseconds of one request go, from the upload to the last event?
 *
 * `npm run bench -- waterfall [seconds] [rounds] [mini|free]`: starts nats-server, gateway and an
 * engine that send their spans here, and separates a stereo WAV of `seconds` seconds (4) alone, so
 * often (15). One JSON line per span, in the order of their beginnings: median milliseconds from
 * the beginning of the upload to its beginning, and how long it took.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createScope } from '../test/harness/scope.ts'
import { startOtlpReceiver } from '../test/harness/otlp-receiver.ts'
import { noise } from '../test/harness/signals.ts'
import { startWinnow } from '../test/harness/start-winnow.ts'
import { wavBytes } from '../test/harness/wav.ts'
import { quantile, report, round } from './report.ts'

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 15)
const model = process.argv[4] ?? 'mini'
const SAMPLE_RATE = 44_100
/** Until processes have sent their spans. */
const SPANS_MS = 400

interface Mark {
  name: string
  /** Milliseconds from the beginning of the upload. */
  begin: number
  end: number
}

const scope = createScope()
const { url, spans } = await startOtlpReceiver(scope)
const winnow = await startWinnow(scope, {
  engines: 0,
  env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '50' },
})
await winnow.startEngine({}, model === 'mini' ? 'engine/main.ts' : 'bench/pipeline/engine.ts')
const path = join(winnow.folder, 'noise.wav')
await writeFile(
  path,
  wavBytes([noise(seconds, SAMPLE_RATE, 1), noise(seconds, SAMPLE_RATE, 2)], SAMPLE_RATE),
)
const lists = new Map<string, Mark[]>()
for (let i = -2; i < rounds; i += 1) {
  const marks = await marksOfOne()
  if (i < 0) continue // the first are slow
  for (const mark of marks) lists.set(mark.name, [...(lists.get(mark.name) ?? []), mark])
}
const median = (values: readonly number[]) => round(quantile(values, 0.5), 4)
const rows = [...lists].map(([span, list]) => ({
  span,
  n: list.length,
  begin_ms: median(list.map(({ begin }) => begin)),
  ms: median(list.map(({ begin, end }) => end - begin)),
}))
rows.sort((a, b) => a.begin_ms - b.begin_ms)
for (const row of rows) report('waterfall', row)
await scope.end()
process.exit() // warm media processes are of no use any more

/** Spans of all processes, and what the client sees. */
async function marksOfOne(): Promise<Mark[]> {
  spans.length = 0
  const startedAt = performance.timeOrigin + performance.now()
  const now = () => performance.timeOrigin + performance.now() - startedAt
  const marks: Mark[] = []
  const mark = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const begin = now()
    try {
      return await work()
    } finally {
      marks.push({ name: `client: ${name}`, begin, end: now() })
    }
  }
  const fileId = await mark('upload', () => winnow.client.upload(path, 'audio/wav'))
  const input = { prompt: 'beep', file_id: fileId }
  const submitted = await mark('submit', () => winnow.client.submit({ input }))
  await mark('follow', async () => {
    for await (const { status } of winnow.client.follow(submitted)) {
      await mark(`told ${status}`, async () => undefined)
    }
  })
  await sleep(SPANS_MS)
  for (const { service, name, startTimeUnixNano, endTimeUnixNano } of spans) {
    const at = (nanoseconds: string) => Number(nanoseconds) / 1e6 - startedAt
    const who = service.replace('winnow-', '')
    marks.push({ name: `${who}: ${name}`, begin: at(startTimeUnixNano), end: at(endTimeUnixNano) })
  }
  return marks
}
