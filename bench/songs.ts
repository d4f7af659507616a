/**
 * `npm run bench -- songs [FOLDER ...]`: how well and how fast do the models of an engine take the
 * vocals out of songs? Prints a JSON line for each song and model.
 *
 * The first song is the excerpt that the Python package stempeg brings for tests: six seconds of
 * "Falcon 69" by The Easton Ellises (CC BY-NC-SA 3.0), one of MUSDB18's songs for tests. A folder
 * holds the stems of another one, in stereo at 44.1 kHz, all of one length; the name of one of its
 * files has "vocals" in it. The mixture is the sum of the stems. MODELS, SONGS_MODEL_DIR and
 * MODELS_DIR choose the models, as for an engine.
 *
 * SDR = 10 log10(sum s² / sum (s - estimate)²), over both channels and all samples. It has neither
 * the windows nor the filters of museval.
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { loadConfig } from '../engine/config.ts'
import { ChunkCutter, createJoiner, planChunks } from '../engine/job/chunks.ts'
import { openMixture } from '../engine/media/read/decode.ts'
import { loadModel } from '../models/load-model.ts'
import { closeLane, openLane, type Model } from '../models/model.ts'
import { routePrompt } from '../shared/prompts/route-prompt.ts'
import { concatenate } from '../test/harness/signals.ts'
import { pythonPackages } from '../test/harness/python-packages.ts'

const RATE = 44_100
const LIMITS = { mediaSecondsMax: 600, channelsMax: 2, sampleRate: RATE }
/** After the first, which prepares graphs. */
const TURNS = 3

/** [channels][samples] */
type Planes = Float32Array[]

interface Song {
  name: string
  mixture: Planes
  vocals: Planes
}

const songs = [await excerpt(), ...(await Promise.all(process.argv.slice(2).map(songIn)))]
const config = loadConfig({ NATS_URL: 'nats://127.0.0.1', ...process.env })
for (const choice of config.models) {
  const model = await loadModel(choice, config)
  for (const song of songs) report(model, song)
}

function report(model: Model, { name, mixture, vocals }: Song): void {
  const seconds = mixture[0]!.length / RATE
  let estimate: Planes = []
  const times = Array.from({ length: 1 + TURNS }, () => {
    const [before, used] = [performance.now(), process.cpuUsage()]
    estimate = separate(model, mixture)
    const { user, system } = process.cpuUsage(used)
    return { real: (performance.now() - before) / 1e3, processor: (user + system) / 1e6 }
  }).slice(1)
  const least = (part: 'real' | 'processor') => Math.min(...times.map((time) => time[part]))
  const figures = {
    vocals_db: sdr(vocals, estimate),
    instrumental_db: sdr(less(mixture, vocals), less(mixture, estimate)),
    real_time: least('real') / seconds,
    processor_time: least('processor') / seconds,
  }
  const peak_mib = Math.round(process.resourceUsage().maxRSS / 1024)
  console.log(JSON.stringify({ song: name, model: model.description.name, ...figures, peak_mib }))
}

/** The vocals, in chunks as an engine cuts and joins them. */
function separate(model: Model, mixture: Planes): Planes {
  const { description } = model
  const [{ sound, stems } = { sound: 'vocals', stems: [] }] = routePrompt('vocals', [
    description,
  ]).wanted
  const plan = planChunks({
    ...description,
    sampleRate: RATE,
    channels: mixture.length,
    chunkSecondsMax: 60,
    overlapSeconds: 5,
    modelChunkSecondsMax: description.chunkSecondsMax,
    modelOverlapSecondsMax: description.overlapSecondsMax.balanced,
  })
  const cutter = new ChunkCutter(mixture.length, plan)
  const joiner = createJoiner(description.joining, plan)
  const blocks: Planes[] = []
  for (const { startSample, channels } of [...cutter.add(mixture), ...cutter.finish()]) {
    const chunk = { channels, sampleRate: RATE }
    const head = { prompt: sound, stems, seed: 0 }
    const lane = openLane(model, { ...head, chunk, spans: [], acceleration: 'balanced' })
    while (lane.stepsDone < lane.steps) model.step([lane])
    blocks.push(joiner.push(startSample, closeLane(model, lane).target))
  }
  return joined([...blocks, joiner.finish()])
}

function joined(blocks: readonly Planes[]): Planes {
  return [0, 1].map((c) => concatenate(blocks.map((block) => block[c] ?? new Float32Array(0))))
}

async function excerpt(): Promise<Song> {
  const folder = join(await pythonPackages('stempeg==0.2.6'), 'stempeg/data')
  const file = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.stem.mp4'))!,
  )
  // The first track is the mixture; then drums, bass, the rest, vocals.
  const stems = await Promise.all([2, 3, 4, 5].map((track) => read(file, track)))
  return { name: basename(file, '.stem.mp4'), mixture: sum(stems), vocals: stems[3]! }
}

async function songIn(folder: string): Promise<Song> {
  const files = readdirSync(folder).sort()
  const vocals = files.findIndex((file) => file.toLowerCase().includes('vocals'))
  const stems = await Promise.all(files.map((file) => read(join(folder, file), 1)))
  return { name: basename(folder), mixture: sum(stems), vocals: stems[vocals]! }
}

async function read(file: string, track: number): Promise<Planes> {
  const mixture = await openMixture(file, { ...LIMITS, track })
  const blocks: Planes[] = []
  for await (const block of mixture.blocks()) blocks.push(block)
  return joined(blocks)
}

function sum(stems: readonly Planes[]): Planes {
  return [0, 1].map((c) =>
    stems[0]![c]!.map((_, i) => stems.reduce((total, planes) => total + planes[c]![i]!, 0)),
  )
}

function less(whole: Planes, part: Planes): Planes {
  return whole.map((plane, c) => plane.map((x, i) => x - part[c]![i]!))
}

function sdr(truth: Planes, estimate: Planes): number {
  const power = (planes: Planes) =>
    planes.reduce((total, plane) => plane.reduce((all, x) => all + x * x, total), 0)
  return 10 * Math.log10(power(truth) / power(less(truth, estimate)))
}
