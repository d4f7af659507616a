/**
 * Question: how fast would an engine be if its device needed no time? It does everything that
 * JavaScript does for a chunk: decoded blocks are cut, batched, opened, stepped, closed and joined;
 * the device answers at once with results of the right shape (`feed/instant-device.ts`). Decoding,
 * encoding and computing the residual are left out, since they have their own processes and
 * threads.
 *
 *   npm run bench -- feed [rounds] [seconds of each job] [model] [checkouts...]
 *
 * With other checkouts, runs their `feed` and this one's in turns, one round each.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BroadcastChannel } from 'node:worker_threads'
import { Budgets } from '../engine/compute/budgets.ts'
import { ComputeThread } from '../engine/compute/compute-thread.ts'
import { Scheduler } from '../engine/compute/scheduler.ts'
import { collectLessOften } from '../engine/garbage-collection.ts'
import { separateMixture } from '../engine/job/separation/separate-mixture.ts'
import type { Mixture } from '../engine/media/read/mixture.ts'
import { ResamplingThreads } from '../engine/media/resampling-threads.ts'
import { parseModelChoices } from '../models/model-choice.ts'
import type { Job } from '../shared/messages.ts'
import { DEFAULT_OPTIONS } from '../shared/separation-options.ts'
import { createLogger } from '../shared/telemetry/log.ts'
import { noise } from '../test/support/media/signals.ts'
import { compareCheckouts } from './feed/checkouts.ts'
import { servingSeconds } from './feed/thread-seconds.ts'
import { StageProfile, type StageFiles, type Stages } from './feed/profile.ts'
import { installRandomModel } from './random-models.ts'
import { quantile, report, round } from './report.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 60)
const modelName = process.argv[4] ?? 'mini'
const checkouts = process.argv.slice(5)

const SAMPLE_RATE = 44_100
const BLOCK_SAMPLES = 65_536
/** The largest value that `BATCH_FRAMES_MAX=auto` chooses. */
const BATCH_FRAMES = 65_536
const WARM_UP_ROUNDS = 2
const SONGS_MODEL_FOLDER = fileURLToPath(new URL('../.runtime/spleeter', import.meta.url))

interface Case {
  channels: number
  jobs: number
}

const CASES: readonly Case[] = [1, 2].flatMap((channels) =>
  [8, 32].map((jobs) => ({ channels, jobs })),
)

const MAIN_STAGES: StageFiles = [
  ['cut and join', /job\/chunks/],
  ['outputs', /separate-mixture/],
  ['batches', /engine\/compute/],
  ['jobs', /engine\/job/],
]

if (checkouts.length > 0) {
  const words = [String(seconds), modelName]
  compareCheckouts(['.', ...checkouts], { turns: rounds, words })
  process.exit()
}
collectLessOften()
const log = createLogger('feed', 'silent')
const modelsFolder = await mkdtemp(join(tmpdir(), 'feed-'))
const compute = await startCompute()
const { models: loaded } = compute.ready
const models = loaded.map(({ description }) => description)
const { byModel } = new Budgets({ models: [...loaded], thread: compute }, BATCH_FRAMES, log)
const scheduler = new Scheduler(compute, byModel)
const resampling = new ResamplingThreads()
const channel = new BroadcastChannel('feed')
const decoded = decodedBlocks()

const speeds = new Map(CASES.map((benchCase) => [benchCase, [] as Speed[]]))
for (let turn = -WARM_UP_ROUNDS; turn < rounds; turn += 1) {
  for (const benchCase of CASES) {
    const speed = await measure(benchCase)
    if (turn >= 0) speeds.get(benchCase)!.push(speed)
  }
}
for (const [benchCase, list] of speeds) {
  const values = (name: keyof Speed) => list.map((speed) => speed[name])
  const spread = (name: keyof Speed) =>
    [0, 0.5, 1].map((share) => round(quantile(values(name), share)))
  report('audio-seconds a second, on a device that needs no time', {
    model: modelName,
    ...benchCase,
    n: list.length,
    engine: spread('engine'),
    compute_thread: spread('compute'),
    main_thread: spread('main'),
    ms_per_audio_second: await profiled(benchCase),
  })
}
channel.close()
await Promise.all([compute.stop(), resampling.stop()])
await rm(modelsFolder, { recursive: true })

/** Audio-seconds a second. */
interface Speed {
  engine: number
  /** Relative to the processor time of its thread, not to wall time. */
  compute: number
  main: number
}

async function measure(benchCase: Case): Promise<Speed> {
  const before = servingSeconds()
  const startedAt = performance.now()
  await separateAll(benchCase)
  const wallSeconds = (performance.now() - startedAt) / 1_000
  const after = servingSeconds()
  const audioSeconds = benchCase.jobs * seconds
  return {
    engine: audioSeconds / wallSeconds,
    compute: audioSeconds / (after.compute - before.compute),
    main: audioSeconds / (after.main - before.main),
  }
}

/** Returns the milliseconds of processor time per audio-second, by stage, of both threads. */
async function profiled(benchCase: Case): Promise<{ compute: Stages; main: Stages }> {
  const main = new StageProfile()
  channel.postMessage('start')
  await main.start()
  const before = servingSeconds()
  await separateAll(benchCase)
  const after = servingSeconds()
  const answer = new Promise<Stages>((resolve) => {
    channel.onmessage = (event) => resolve((event as { data: Stages }).data)
  })
  channel.postMessage('stop')
  const shares = { compute: await answer, main: await main.stop(MAIN_STAGES) }
  const msOf = (thread: keyof typeof shares): Stages => {
    const ms = (1_000 * (after[thread] - before[thread])) / (benchCase.jobs * seconds)
    const stages = Object.entries(shares[thread]).sort(([, one], [, other]) => other - one)
    return Object.fromEntries(stages.map(([stage, share]) => [stage, round(share * ms)]))
  }
  return { compute: msOf('compute'), main: msOf('main') }
}

async function separateAll({ channels, jobs }: Case): Promise<void> {
  await Promise.all(Array.from({ length: jobs }, (_, i) => separate(channels, i)))
}

async function separate(channels: number, index: number): Promise<void> {
  const model = models[0]!
  const prompt = model.answers === 'stems' ? model.stems[0]! : 'rain'
  const id = `job-${index}`
  const options = { ...DEFAULT_OPTIONS }
  const job = { request_id: id, account_id: id, prompt, options } as unknown as Job
  await separateMixture(job, mixtureOf(channels), {
    scheduler,
    resampling,
    models,
    tagger: null, // only the separation is measured
    config: { chunksInFlightMax: 2 },
    signal: new AbortController().signal,
    secondsExpected: seconds,
    log: () => undefined,
    write: () => Promise.resolve(),
    onProgress: () => undefined,
  })
}

/** Returns a mixture whose blocks are already decoded, so that they cost the engine nothing. */
function mixtureOf(channels: number): Mixture {
  async function* blocks() {
    for (const block of decoded) yield block.slice(0, channels)
  }
  return { sampleRate: SAMPLE_RATE, channels, blocks } as unknown as Mixture
}

/** The channels differ, so that stereo takes two rows. */
function decodedBlocks(): Float32Array[][] {
  const wave = noise(seconds, SAMPLE_RATE, 1)
  const blocks: Float32Array[][] = []
  for (let start = 0; start < wave.length; start += BLOCK_SAMPLES) {
    const end = Math.min(wave.length, start + BLOCK_SAMPLES)
    blocks.push([wave.slice(start, end), wave.slice(wave.length - end, wave.length - start)])
  }
  return blocks
}

async function startCompute(): Promise<ComputeThread> {
  if (modelName !== 'mini') await installRandomModel(modelsFolder, modelName)
  const options = {
    models: parseModelChoices(modelName, { installed: modelsFolder, songs: SONGS_MODEL_FOLDER }),
    textEncoderFolder: fileURLToPath(new URL('../.runtime/text-encoder', import.meta.url)),
    precision: 'float32',
    batchFramesMax: BATCH_FRAMES,
    computeSecondsMax: 600,
  } as const
  return ComputeThread.start(options, log, new URL('feed/worker.ts', import.meta.url))
}
