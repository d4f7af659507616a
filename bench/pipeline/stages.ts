/**
 * The stages of the path, each alone: milliseconds of processor time for an audio-second, of this
 * process and of the media processes that it uses, and of real time.
 */

import { createHash } from 'node:crypto'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { planChunks, Stitcher, type ChunkPlan } from '../../engine/job/chunks.ts'
import { cutChunks } from '../../test/support/engine/cut-chunks.ts'
import { Peaks } from '../../engine/job/outputs/peaks.ts'
import { openMixture } from '../../engine/media/read/decode.ts'
import { createEncoder } from '../../engine/media/write/encode.ts'
import { measureSound } from '../../engine/media/read/measure.ts'
import { SoundProcesses } from '../../engine/media/process/sound-process.ts'
import { uploadOutput } from '../../engine/media/write/upload.ts'
import { quantile, report, round } from '../report.ts'
import { processorSeconds } from './processor-time.ts'

const ROUNDS = 5
const LIMITS = { mediaSecondsMax: 7_200, channelsMax: 8, sampleRate: null }
const SAMPLE_RATE = 44_100
const OUTPUTS = 2
const signal = new AbortController().signal

/** Planar samples, 65,536 each. */
type Blocks = readonly Float32Array[][]

type Stage = () => Promise<unknown> | unknown

/** @param paths a file of each kind, all with the same sound of `seconds` seconds */
export async function measureStages(
  paths: Readonly<Record<string, string>>,
  seconds: number,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pipeline-'))
  const wav = paths.wav!
  const processes = new SoundProcesses(join(wav, '..'))
  const blocks = await decoded(wav)
  const file = await readFile(wav)
  const server = await sink()
  const upload = {
    url: server.url,
    path: wav,
    contentType: 'audio/wav',
    attemptId: 'bench',
    signal,
  }
  const stages: Record<string, Stage> = {
    ...byKind('measure', paths, (path) => measureSound(path, { secondsMax: 7_200 })),
    ...byKind('decode', paths, (path) => decoded(path)),
    ...byKind('decode in its process', paths, (path) => decodedElsewhere(processes, path)),
    'resample to 48 kHz': () => decoded(wav, 48_000),
    'cut and cross-fade': () => cutAndJoin(blocks),
    ...Object.fromEntries(
      (['wav', 'flac', 'mp3'] as const).map((format) => [
        `encode ${format}, both outputs`,
        () => encode(blocks, { format, folder }),
      ]),
    ),
    peaks: () => peaksOf(blocks),
    'hash of both outputs (24 bits)': () => hashOf(file, 1.5 * OUTPUTS),
    'write of both outputs': () => write(file, join(folder, 'written'), { isSynced: false }),
    'write and fsync of both outputs': () =>
      write(file, join(folder, 'written'), { isSynced: true }),
    'upload of a 16-bit file': () => uploadOutput(upload),
  }
  for (const [stage, run] of Object.entries(stages)) await measureStage({ stage, seconds, run })
  server.close()
  await rm(folder, { recursive: true })
}

const byKind = (
  name: string,
  paths: Readonly<Record<string, string>>,
  run: (path: string) => Promise<unknown>,
): Record<string, Stage> =>
  Object.fromEntries(
    Object.entries(paths).map(([kind, path]) => [`${name} ${kind}`, () => run(path)]),
  )

async function measureStage(measured: {
  stage: string
  seconds: number
  run: Stage
}): Promise<void> {
  const { stage, seconds, run } = measured
  await run() // the first is slow
  const list: ReturnType<typeof now>[] = []
  for (let i = 0; i < ROUNDS; i += 1) {
    const before = now()
    await run()
    const after = now()
    list.push({
      own: after.own - before.own,
      children: after.children - before.children,
      wall: after.wall - before.wall,
    })
  }
  const ms = (name: 'own' | 'children' | 'wall') =>
    round(
      (1_000 *
        quantile(
          list.map((each) => each[name]),
          0.5,
        )) /
        seconds,
    )
  report('pipeline', {
    stage,
    n: ROUNDS,
    ms_per_audio_second: { own: ms('own'), media_process: ms('children'), wall: ms('wall') },
  })
}

/** Seconds. */
function now() {
  const { user, system } = process.cpuUsage()
  const { children } = processorSeconds(process.pid)
  return { own: (user + system) / 1e6, children, wall: performance.now() / 1_000 }
}

async function decoded(path: string, sampleRate: number | null = null): Promise<Blocks> {
  const mixture = await openMixture(path, { ...LIMITS, sampleRate })
  const blocks: Float32Array[][] = []
  for await (const block of mixture.blocks()) blocks.push(block)
  await mixture.close()
  return blocks
}

const decodedElsewhere = (processes: SoundProcesses, path: string) =>
  processes.use(signal, async (reader) => {
    const mixture = await reader.open(path, LIMITS)
    for await (const block of mixture.blocks()) void block
    await mixture.close()
  })

const PLAN: ChunkPlan = planChunks({
  sampleRate: SAMPLE_RATE,
  channels: 2,
  chunkSecondsMax: 60,
  overlapSeconds: 5,
  modelChunkSecondsMax: 10,
  modelOverlapSecondsMax: 2,
  frameSamples: 1,
})

async function* streamOf(blocks: Blocks): AsyncGenerator<Float32Array[]> {
  yield* blocks
}

async function cutAndJoin(blocks: Blocks): Promise<void> {
  const stitchers = Array.from({ length: OUTPUTS }, () => new Stitcher(PLAN))
  for await (const { startSample, channels } of cutChunks(streamOf(blocks), 2, PLAN)) {
    for (const stitcher of stitchers) {
      stitcher.push(
        startSample,
        channels.map((plane) => plane.slice()), // as the model's results are its own memory
      )
    }
  }
}

async function encode(
  blocks: Blocks,
  { format, folder }: { format: 'wav' | 'flac' | 'mp3'; folder: string },
): Promise<void> {
  const open = (_: unknown, i: number) =>
    createEncoder(join(folder, `${i}`), { format, sampleRate: SAMPLE_RATE, channels: 2 })
  const encoders = await Promise.all(Array.from({ length: OUTPUTS }, open))
  for (const block of blocks) await Promise.all(encoders.map((encoder) => encoder.write(block)))
  await Promise.all(encoders.map((encoder) => encoder.finish()))
}

function peaksOf(blocks: Blocks): void {
  const peaks = new Peaks(['target', 'residual'], { sampleRate: SAMPLE_RATE, channels: 2 })
  for (const block of blocks) {
    for (const name of ['mixture', 'target', 'residual'] as const) peaks.add(name, block)
  }
  peaks.toJson(1)
}

function hashOf(file: Buffer, times: number): void {
  for (let i = 0; i < times; i += 1) createHash('sha256').update(file).digest()
}

async function write(file: Buffer, path: string, { isSynced }: { isSynced: boolean }) {
  const handle = await open(path, 'w')
  for (let i = 0; i < 1.5 * OUTPUTS; i += 1) await handle.write(file)
  if (isSynced) await handle.sync()
  await handle.close()
}

/** Takes bodies and keeps nothing. */
async function sink(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() }
}
