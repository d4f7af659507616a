/**
 * Makes loud masters from a seed and separates them the way the engine does, to check that the
 * outputs add up.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BatchBudget } from '../../../engine/compute/batch-budget.ts'
import { ComputeThread } from '../../../engine/compute/compute-thread.ts'
import { Scheduler } from '../../../engine/compute/scheduler.ts'
import { OutputThreads } from '../../../engine/job/outputs/output-threads.ts'
import { Outputs } from '../../../engine/job/outputs/outputs.ts'
import { separateMixture } from '../../../engine/job/separation/separate-mixture.ts'
import { openMixture } from '../../../engine/media/read/decode.ts'
import { ResamplingThreads } from '../../../engine/media/resampling-threads.ts'
import { createLogger } from '../../../shared/telemetry/log.ts'
import type { OutputName } from '../../../shared/messages.ts'
import { makeJob } from './job-parts.ts'
import { DEFAULT_OPTIONS } from '../../../shared/separation-options.ts'
import { concatenate, noise, type Planes } from '../media/signals.ts'
import { wavBytes } from '../media/wav.ts'

const RATE = 44_100
const SECONDS = 1.5

/** Ways to make a master loud. All but `above full scale` keep samples within ±1. */
const FINISHES = {
  clipped: (x: number) => Math.max(-1, Math.min(1, x)),
  limited: (x: number) => 0.98 * Math.tanh(x),
  square: (x: number) => Math.sign(x),
  'above full scale': (x: number) => 2 * Math.tanh(x),
} as const

export type Finish = keyof typeof FINISHES

interface LoudMaster {
  finish: Finish
  file: Buffer
}

/** Makes a bar of drums, bass and a chord that is far too loud and differs for every seed. */
export function loudMaster(seed: number): LoudMaster {
  const names = Object.keys(FINISHES) as Finish[]
  const finish = names[seed % names.length]!
  const drive = 2 + (seed % 7)
  const planes = [1, 2].map((side) => bar(seed, side).map((x) => FINISHES[finish](drive * x)))
  const coding = finish === 'above full scale' ? 'float32' : seed % 2 === 0 ? 'pcm16' : 'pcm24'
  return { finish, file: wavBytes(planes, RATE, coding) }
}

function bar(seed: number, side: number): Float32Array {
  const hits = noise(SECONDS, RATE, 1_000 * side + seed)
  const root = 55 * 2 ** ((seed % 12) / 12)
  const beat = Math.round((RATE * (0.2 + 0.02 * (seed % 10))) / 2)
  return hits.map((hit, i) => {
    const t = i / RATE
    const decay = Math.exp((-8 * (i % beat)) / beat)
    const tone = (ratio: number) => Math.sin(2 * Math.PI * root * ratio * t + side * ratio)
    return 0.8 * decay * hit + 0.3 * tone(1) + 0.15 * (tone(4) + tone(5) + tone(6))
  })
}

interface SeparationResult {
  mixture: Planes
  /** Samples decoded from the output files. */
  outputs: Planes[]
  gainDb: number
}

/** Separates with the built-in model in its thread, decoding and encoding as for any request. */
export class MasterSeparator {
  readonly #compute: ComputeThread
  readonly #scheduler: Scheduler
  readonly #threads = new OutputThreads()
  readonly #resampling = new ResamplingThreads()

  private constructor(compute: ComputeThread) {
    this.#compute = compute
    const log = createLogger('test', 'silent')
    this.#scheduler = new Scheduler(compute, new Map([['mini', new BatchBudget(4_096, log)]]))
  }

  static async start(): Promise<MasterSeparator> {
    const textEncoderFolder = fileURLToPath(
      new URL('../../../.runtime/text-encoder', import.meta.url),
    )
    const mini = { kind: 'mini', name: 'mini' } as const
    const options = { models: [mini], textEncoderFolder, precision: 'float32' } as const
    const limits = { batchFramesMax: 4_096, computeSecondsMax: 300 }
    const log = createLogger('test', 'silent')
    return new MasterSeparator(await ComputeThread.start({ ...options, ...limits }, log))
  }

  async separate(file: Buffer, format: 'wav' | 'flac'): Promise<SeparationResult> {
    const folder = await mkdtemp(join(tmpdir(), 'loud-master-'))
    try {
      await writeFile(join(folder, 'source'), file)
      return await this.#separate(folder, format)
    } finally {
      await rm(folder, { recursive: true })
    }
  }

  async #separate(folder: string, format: 'wav' | 'flac'): Promise<SeparationResult> {
    const mixture = await openMixture(join(folder, 'source'), LIMITS)
    const names: OutputName[] = ['target', 'residual']
    const { signal } = new AbortController()
    const { sampleRate, channels } = mixture
    const encoding = { format, sampleRate, channels }
    const picture = { videoPath: null, soundIndex: 0, onPicture: () => undefined }
    const rest = {
      folder,
      ...picture,
      hasPeaks: false,
      hasPreview: false,
      signal,
      log: () => undefined,
    }
    const outputs = await Outputs.open({ names, encoding, ...rest }, this.#threads)
    await separateMixture(JOB, mixture, {
      scheduler: this.#scheduler,
      resampling: this.#resampling,
      models: this.#compute.ready.models.map(({ description }) => description),
      tagger: null,
      config: { chunksInFlightMax: 2 },
      signal,
      secondsExpected: SECONDS,
      log: () => undefined,
      write: (separated) => outputs.write(separated),
      onProgress: () => undefined,
    })
    await mixture.close()
    const { gain_db: gainDb } = await outputs.finish(() => Promise.resolve(undefined))
    const [source, ...decoded] = await Promise.all(
      ['source', ...names].map((name) => decode(join(folder, name))),
    )
    return { mixture: source!, outputs: decoded, gainDb }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#compute, this.#threads, this.#resampling].map((each) => each.stop()))
  }
}

const LIMITS = { mediaSecondsMax: 60, channelsMax: 8, sampleRate: null }

/** A job that cuts the master into two overlapping chunks. */
const JOB = makeJob('r', '', {
  prompt: 'drums',
  options: { ...DEFAULT_OPTIONS, max_chunk_duration: 1, chunk_overlap: 0.5 },
})

async function decode(path: string): Promise<Planes> {
  const blocks: Float32Array[][] = []
  const media = await openMixture(path, LIMITS)
  for await (const block of media.blocks()) blocks.push(block)
  await media.close()
  return Array.from({ length: media.channels }, (_, channel) =>
    concatenate(blocks.map((block) => block[channel]!)),
  )
}

/**
 * Returns the largest difference between a sample of the summed outputs and of the mixture at their
 * gain.
 */
export function sumError({ mixture, outputs, gainDb }: SeparationResult): number {
  const gain = 10 ** (gainDb / 20)
  let greatest = 0
  for (const [channel, plane] of mixture.entries()) {
    for (const [i, sample] of plane.entries()) {
      const left = outputs.reduce((rest, output) => rest - output[channel]![i]!, gain * sample)
      greatest = Math.max(greatest, Math.abs(left))
    }
  }
  return greatest
}

/** Quantization step of 24 bits. */
const STEP = 2 ** -23

/**
 * Bounds the error of the sum of two outputs: half a step for rounding each, the same for the float
 * samples before, and one step because 24 bits store a sample of exactly +1 as the step below.
 */
export const SUM_ERROR_MAX = 3 * STEP
