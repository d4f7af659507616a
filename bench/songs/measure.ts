/**
 * Separates songs with one model, in its own process, and prints a JSON line for each: the quality
 * of each stem, how long it took, and how much memory. MODELS names the model, as for an engine;
 * the arguments are folders, as for `bench/songs.ts`.
 */
import { loadConfig } from '../../engine/config.ts'
import { ChunkCutter, createJoiner, planChunks } from '../../engine/job/chunks.ts'
import { loadModel } from '../../models/load-model.ts'
import type { Head, Model } from '../../models/model.ts'
import { routePrompt } from '../../shared/prompts/route-prompt.ts'
import type { Planes } from '../../test/support/media/signals.ts'
import {
  joinPlanes,
  less,
  readExcerpt,
  readSong,
  sdr,
  SONG_RATE,
  sum,
  type Song,
} from '../../test/support/media/songs.ts'
import { commit, machine, round } from '../report.ts'
import type { SongFigures } from './table.ts'

/** Measured turns, after a first one that prepares graphs. */
const TURNS = 2

const songs = [await readExcerpt(), ...(await Promise.all(process.argv.slice(2).map(readSong)))]
const config = loadConfig({ NATS_URL: 'nats://127.0.0.1', ...process.env })
const model = await loadModel(config.models[0]!, config)
for (const song of songs) console.log(JSON.stringify(measure(song)))

function measure({ name, mixture, stems }: Song): SongFigures {
  const prompts = [...stems.keys(), 'instrumental'].flatMap((prompt) => questionOf(prompt) ?? [])
  const heads = [...new Set(prompts.flatMap((each) => each.heads))]
  let targets = new Map<string, Planes>()
  const times = Array.from({ length: 1 + TURNS }, () => {
    const [before, used] = [performance.now(), process.cpuUsage()]
    targets = separate(mixture, heads)
    const { user, system } = process.cpuUsage(used)
    return { real: (performance.now() - before) / 1e3, cpu: (user + system) / 1e6 }
  }).slice(1)
  const perSecond = (part: 'real' | 'cpu') =>
    (Math.min(...times.map((time) => time[part])) * SONG_RATE) / mixture[0]!.length
  const sdrDb = prompts.map(({ prompt, isWithout, heads: parts }): [string, number] => {
    const estimate = sum(parts.map((part) => targets.get(part)!))
    const truth = stems.get(prompt) ?? less(mixture, stems.get('vocals')!)
    return [prompt, round(sdr(truth, isWithout ? less(mixture, estimate) : estimate))]
  })
  return {
    song: name,
    model: model.description.name,
    sdrDb: Object.fromEntries(sdrDb),
    realTime: round(perSecond('real')),
    cpuTime: round(perSecond('cpu')),
    peakMib: Math.round(process.resourceUsage().maxRSS / 1024),
    commit: commit(),
    machine: machine(),
  }
}

/** Returns the heads that a prompt needs; undefined if the model has no such stem. */
function questionOf(prompt: string) {
  const { description } = model
  const isSound = prompt !== 'other' // no prompt describes "other"
  if (description.answers === 'text' ? !isSound : !hasStems(description, prompt)) return undefined
  const { wanted, unwanted } = routePrompt(prompt, [description])
  const isWithout = wanted.length === 0
  const questions = isWithout ? unwanted : wanted
  const heads = questions.flatMap(({ sound, stems }) => (stems.length > 0 ? stems : [sound]))
  return { prompt, isWithout, heads }
}

function hasStems({ name, stems }: Model['description'], prompt: string): boolean {
  try {
    return routePrompt(prompt, [{ name, answers: 'stems', stems }]).model === name
  } catch {
    return false
  }
}

/** Returns the targets of all sounds in one pass, cut into chunks and joined as in an engine. */
function separate(mixture: Planes, sounds: readonly string[]): Map<string, Planes> {
  const { description } = model
  const plan = planChunks({
    ...description,
    sampleRate: SONG_RATE,
    channels: mixture.length,
    chunkSecondsMax: 60,
    overlapSeconds: 5,
    modelChunkSecondsMax: description.chunkSecondsMax,
    modelOverlapSecondsMax: description.overlapSecondsMax.balanced,
  })
  const cutter = new ChunkCutter(mixture.length, plan)
  const joiners = sounds.map(() => createJoiner(description.joining, plan))
  const blocks: Planes[][] = sounds.map(() => [])
  const whole = mixture.map((plane) => plane)
  for (const { startSample, channels } of [...cutter.add(whole), ...cutter.finish()]) {
    for (const [i, target] of targetsOf(channels, sounds).entries()) {
      blocks[i]!.push(joiners[i]!.push(startSample, target))
    }
  }
  return new Map(
    sounds.map((sound, i) => [sound, joinPlanes([...blocks[i]!, joiners[i]!.finish()])]),
  )
}

/** Returns the targets of a chunk, [sounds][channels]. */
function targetsOf(channels: Float32Array[], sounds: readonly string[]): Float32Array[][] {
  const isText = model.description.answers === 'text'
  const heads = sounds.map((sound): Head => ({
    prompt: sound,
    seed: 0,
    ...(!isText && { stems: [sound] }),
  }))
  const chunk = { channels, sampleRate: SONG_RATE }
  const lanes = model.open({ chunk, spans: [], acceleration: 'balanced' }, heads)
  for (;;) {
    const busy = lanes.filter((lane) => lane.stepsDone < lane.steps)
    if (busy.length === 0) break
    model.step(busy)
  }
  const targets: Float32Array[][] = []
  for (const lane of lanes) {
    const results = model.close(lane)
    for (const [i, head] of lane.heads.entries()) targets[head] = results[i]!.target
  }
  return targets
}
