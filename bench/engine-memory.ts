/**
 * Question: how much memory does an engine need for a long file, and how long does it take?
 *
 * `node --import tsx bench/engine-memory.ts [minutes] [jobs] [model] [prompt]`: separates a stereo
 * mp3 of that length (60) that many times at once (1), and prints the engine's resident memory at
 * rest and at its peak. With `htdemucs`, `audiosep`, `roformer`, `scnet` or `scnet-large`
 * the engine has that model at its published size with random weights.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEncoder } from '../engine/media/write/encode.ts'
import { connectEngine } from '../shared/engine-control.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { noise } from '../test/support/media/signals.ts'
import { separateFile, startWinnow } from '../test/support/processes/start-winnow.ts'
import { installRandomModel } from './random-models.ts'
import { report, round } from './report.ts'

const minutes = Number(process.argv[2] ?? 60)
const jobs = Number(process.argv[3] ?? 1)
const model = process.argv[4] ?? 'mini'
const prompt = process.argv[5] ?? 'rain'
const SAMPLE_RATE = 44_100
const MIB = 2 ** 20

const scope = createScope()
const modelsFolder = await mkdtemp(join(tmpdir(), 'engine-memory-'))
scope.after(() => rm(modelsFolder, { recursive: true, force: true }))
if (model !== 'mini') await installRandomModel(modelsFolder, model)
const winnow = await startWinnow(scope, { env: { MODELS: model, MODELS_DIR: modelsFolder } })
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
  Array.from({ length: jobs }, () => separateFile(winnow, path, { prompt }, 'audio/mpeg')),
)
const seconds = (performance.now() - startedAt) / 1000
stop()
report('engine-memory', {
  model,
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
