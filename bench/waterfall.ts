/**
 * Question: where do the milliseconds of one request go, from its call to its result?
 *
 * `npm run bench -- waterfall [seconds] [rounds] [mini|free]`: starts nats-server, gateway and an
 * engine that send their spans here, and separates a stereo WAV of `seconds` seconds (4) alone, so
 * often (15), each in one call that waits. One JSON line per span, in the order of their
 * beginnings: median milliseconds from the call to its beginning, and how long it took; last the
 * share of the whole that is not the model's (`steps`), by request.
 */

import { openAsBlob } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createScope } from '../test/support/processes/scope.ts'
import { startOtlpReceiver } from '../test/support/http/otlp-receiver.ts'
import { noise } from '../test/support/media/signals.ts'
import { startWinnow } from '../test/support/processes/start-winnow.ts'
import { wavBytes } from '../test/support/media/wav.ts'
import { load1 } from './load/own-service.ts'
import { quantile, report, round } from './report.ts'

const seconds = Number(process.argv[2] ?? 4)
const rounds = Number(process.argv[3] ?? 15)
const model = process.argv[4] ?? 'mini'
const SAMPLE_RATE = 44_100
/** Until processes have sent their spans. */
const SPANS_MS = 400

/** Spans of the whole and of the model. */
const [WHOLE, MODEL] = ['client: separate', 'engine: steps']

interface Mark {
  name: string
  /** Milliseconds from the beginning of the call. */
  begin: number
  end: number
}

const lengthOf = ({ begin, end }: Mark): number => end - begin

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
  ms: median(list.map(lengthOf)),
}))
rows.sort((a, b) => a.begin_ms - b.begin_ms)
for (const row of rows) report('waterfall', row)
const [whole, steps] = [lists.get(WHOLE)!, lists.get(MODEL)!]
const shares = whole.map((mark, i) => 1 - lengthOf(steps[i]!) / lengthOf(mark))
report('share outside the model', {
  load1: load1(),
  quartiles: [0, 0.25, 0.5, 0.75, 1].map((share) => round(quantile(shares, share))),
})
await scope.end()
process.exit() // warm media processes are of no use any more

/** Spans of all processes, and what the client sees. */
async function marksOfOne(): Promise<Mark[]> {
  spans.length = 0
  const startedAt = performance.timeOrigin + performance.now()
  const now = () => performance.timeOrigin + performance.now() - startedAt
  const media = { name: 'noise.wav', contentType: 'audio/wav', bytes: await openAsBlob(path) }
  const begin = now()
  await winnow.client.separate(media, 'beep')
  const marks: Mark[] = [{ name: WHOLE, begin, end: now() }]
  await sleep(SPANS_MS)
  for (const { service, name, startTimeUnixNano, endTimeUnixNano } of spans) {
    const at = (nanoseconds: string) => Number(nanoseconds) / 1e6 - startedAt
    const who = service.replace('winnow-', '')
    marks.push({ name: `${who}: ${name}`, begin: at(startTimeUnixNano), end: at(endTimeUnixNano) })
  }
  return marks
}
