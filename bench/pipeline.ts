/**
 * Question: how much sound gets through everything but the model, and where does the time go?
 *
 * `npm run bench -- pipeline [rounds] [seconds]`: starts nats-server, gateway and an engine whose
 * model costs nothing (`pipeline/worker.ts`), and separates a stereo file of `seconds` seconds (60)
 * at 44.1 kHz, of each kind and into each format, alone and eight at once, in turns. One JSON line
 * per case: audio-seconds a second of real time, and for each core of processor time that engine
 * and media processes took; milliseconds of processor time per audio-second, by process. Then the
 * stages, each alone in this process: `pipeline/stages.ts`.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OutputFormat } from '../shared/separation-options.ts'
import { createScope } from '../test/support/processes/scope.ts'
import { makeMedia } from '../test/support/media/make-media.ts'
import { noise, sine } from '../test/support/media/signals.ts'
import { separateFile, startWinnow, type Winnow } from '../test/support/processes/start-winnow.ts'
import { wavBytes } from '../test/support/media/wav.ts'
import { processorSeconds } from './pipeline/processor-time.ts'
import { measureStages } from './pipeline/stages.ts'
import { quantile, report, round } from './report.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 60)
const SAMPLE_RATE = 44_100

const CONTENT_TYPES = { wav: 'audio/wav', mp3: 'audio/mpeg', flac: 'audio/flac', mp4: 'video/mp4' }
type Kind = keyof typeof CONTENT_TYPES

interface Case {
  kind: Kind
  format: OutputFormat
  atOnce: number
}

/** Cost of one round, per second of audio. */
interface Measure {
  wall: number
  engine: number
  media: number
  gateway: number
  broker: number
}

const FORMATS: readonly [Kind, OutputFormat][] = [
  ['wav', 'wav'],
  ['mp3', 'wav'],
  ['flac', 'wav'],
  ['mp4', 'wav'],
  ['wav', 'flac'],
  ['wav', 'mp3'],
]

const CASES: readonly Case[] = [1, 8].flatMap((atOnce) =>
  FORMATS.map(([kind, format]) => ({ kind, format, atOnce })),
)

const scope = createScope()
const winnow = await startWinnow(scope, { engines: 0 })
await winnow.startEngine({}, 'bench/pipeline/engine.ts')
const paths = await makeFiles(winnow.folder)
const measures = new Map(CASES.map((each) => [each, [] as Measure[]]))
for (const each of CASES) await run(each) // the first of a kind is slow, and is not measured
for (let i = 0; i < rounds; i += 1) {
  for (const each of CASES) measures.get(each)!.push(await measured(each))
}
for (const [each, list] of measures) reportCase(each, list)
await measureStages(paths, seconds)
await scope.end()
process.exit() // warm media processes are of no use any more

async function run({ kind, format, atOnce }: Case): Promise<void> {
  const input = { prompt: 'beep', output_format: format }
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      const { last } = await separateFile(winnow, paths[kind], input, CONTENT_TYPES[kind])
      if (last.status !== 'COMPLETED') throw new Error(JSON.stringify(last.error))
    }),
  )
}

async function measured(each: Case): Promise<Measure> {
  const before = now(winnow)
  await run(each)
  const after = now(winnow)
  const audioSeconds = each.atOnce * seconds
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      (value - before[name as keyof Measure]) / audioSeconds,
    ]),
  ) as unknown as Measure
}

/** Seconds that have passed, and that each process has taken. */
function now({ engines, gateway, nats }: Winnow): Measure {
  const { own: engine, children: media } = processorSeconds(engines[0]!.child.pid!)
  return {
    wall: performance.now() / 1_000,
    engine,
    media,
    gateway: processorSeconds(gateway.child.pid!).own,
    broker: processorSeconds(nats.process.pid!).own,
  }
}

function reportCase({ kind, format, atOnce }: Case, list: readonly Measure[]): void {
  const spread = (values: readonly number[]) => ({
    median: round(quantile(values, 0.5)),
    least: round(quantile(values, 0)),
    most: round(quantile(values, 1)),
  })
  const ms = (name: keyof Measure) =>
    round(
      1_000 *
        quantile(
          list.map((each) => each[name]),
          0.5,
        ),
    )
  report('pipeline', {
    case: `${kind} to ${format}`,
    at_once: atOnce,
    seconds,
    n: list.length,
    audio_seconds_per_second: spread(list.map(({ wall }) => 1 / wall)),
    audio_seconds_per_core: spread(list.map(({ engine, media }) => 1 / (engine + media))),
    ms_per_audio_second: {
      engine: ms('engine'),
      media: ms('media'),
      gateway: ms('gateway'),
      broker: ms('broker'),
    },
  })
}

async function makeFiles(folder: string): Promise<Record<Kind, string>> {
  const beep = sine(880, seconds, SAMPLE_RATE)
  const channel = (seed: number) =>
    noise(seconds, SAMPLE_RATE, seed).map(
      (x, i) => 0.3 * x + (i % SAMPLE_RATE < 10_000 ? (beep[i] ?? 0) : 0),
    )
  const planes = [channel(1), channel(2)]
  const path = (kind: Kind) => join(folder, `bench.${kind}`)
  const audio = (encoder: string) => ({ planes, sampleRate: SAMPLE_RATE, encoder })
  await writeFile(path('wav'), wavBytes(planes, SAMPLE_RATE))
  await makeMedia(path('mp3'), 'mp3', { audio: audio('libmp3lame') })
  await makeMedia(path('flac'), 'flac', { audio: audio('flac') })
  const video = { seconds, encoder: 'libx264' }
  await makeMedia(path('mp4'), 'mp4', { audio: audio('aac'), video })
  return { wav: path('wav'), mp3: path('mp3'), flac: path('flac'), mp4: path('mp4') }
}
