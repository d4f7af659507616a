/**
 * Question: how much memory does an engine need for a long file?
 *
 * `node --import tsx bench/engine-memory.ts [minutes] [jobs]`: separates a stereo mp3 of that
 * length (60) that many times at once (1), and prints the engine's resident memory at rest and at
 * its peak.
 */

import { join } from 'node:path'
import { createEncoder } from '../engine/media/encode.ts'
import { connectEngine } from '../shared/engine-control.ts'
import { createScope } from '../test/support/scope.ts'
import { noise } from '../test/support/signals.ts'
import { separateFile, startWinnow } from '../test/support/start-winnow.ts'
import { report, round } from './report.ts'

const minutes = Number(process.argv[2] ?? 60)
const jobs = Number(process.argv[3] ?? 1)
const SAMPLE_RATE = 44_100
const MIB = 2 ** 20

const scope = createScope()
const winnow = await startWinnow(scope)
const engine = connectEngine(winnow.engines[0]?.ready.control ?? '')
const path = join(winnow.folder, 'long.mp3')
await writeLongFile()

let peak = 0
let atRest = 0
const stop = engine.watchStats(200, ({ memory_bytes: bytes }) => {
  atRest ||= bytes
  peak = Math.max(peak, bytes)
})
const startedAt = performance.now()
const ended = await Promise.all(
  Array.from({ length: jobs }, () => separateFile(winnow, path, { prompt: 'rain' }, 'audio/mpeg')),
)
const seconds = (performance.now() - startedAt) / 1000
stop()
report('engine-memory', {
  minutes,
  jobs,
  status: ended.map(({ last }) => last.status),
  at_rest_mib: Math.round(atRest / MIB),
  peak_mib: Math.round(peak / MIB),
  rtf: round(seconds / (60 * minutes * jobs)),
})
engine.close()
await scope.end()

async function writeLongFile(): Promise<void> {
  const encoder = await createEncoder(path, { format: 'mp3', sampleRate: SAMPLE_RATE, channels: 2 })
  const minute = [noise(60, SAMPLE_RATE), noise(60, SAMPLE_RATE, 7)]
  for (let i = 0; i < minutes; i += 1) await encoder.write(minute)
  await encoder.finish()
}
