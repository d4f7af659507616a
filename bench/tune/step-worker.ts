/**
 * Times batches of a model in its own process, and measures their memory: `step-worker.ts
 * <StepQuestion as JSON>` prints one StepModel, then StepTimes, as JSON.
 */

import { openLane, closeLane } from '../../models/model.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openGpuMonitor } from '../../engine/operations/gpu-monitor.ts'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { loadModel } from '../../models/load-model.ts'
import { parseModelChoices } from '../../models/model-choice.ts'
import type { PrecisionChoice } from '../../models/tensorflow/precision.ts'
import { deviceKind } from '../../models/tensorflow/tensor.ts'
import { createLogger } from '../../shared/telemetry/log.ts'
import { noise } from '../../test/support/media/signals.ts'
import type { StepModel, StepQuestion, StepTime } from './step-times.ts'

const runtime = fileURLToPath(new URL('../../.runtime', import.meta.url))
const question = JSON.parse(process.argv[2] ?? '') as StepQuestion
const { env } = process
const startedAt = performance.now()
const model = await loadModel(
  parseModelChoices(env.MODEL ?? 'mini', {
    installed: env.MODELS_DIR ?? 'data/models',
    songs: env.SONGS_MODEL_DIR ?? join(runtime, 'spleeter'),
  })[0]!,
  {
    textEncoderFolder: env.TEXT_ENCODER_DIR ?? join(runtime, 'text-encoder'),
    precision: (env.PRECISION ?? 'float32') as PrecisionChoice,
  },
)
const gpus = await openGpuMonitor({
  visible: env.CUDA_VISIBLE_DEVICES,
  onXid: () => undefined,
  log: createLogger('tune', 'silent'),
})
const { chunkSecondsMax, framesPerSecond, name, sampleRate } = model.description
const rate = sampleRate ?? 44_100

say<StepModel>({
  model: name,
  device: deviceKind(),
  chunkFrames: Math.ceil(chunkSecondsMax * framesPerSecond),
  memoryBytes:
    (await gpuMemory())?.total ?? Math.min(totalmem(), process.constrainedMemory?.() || Infinity),
})

const SHAPES_MIN = 4
const shapes = question.chunkShares
  .flatMap((share) =>
    question.batches.map((batch) => ({ seconds: share * chunkSecondsMax, batch })),
  )
  // smallest first, because the process does not release memory
  .sort((a, b) => a.seconds * a.batch - b.seconds * b.batch)
for (let round = 0; round === 0 || isTimeLeft(); round += 1) {
  for (const [i, shape] of shapes.entries()) {
    const isFirst = round === 0
    // When time is short, the largest shapes are skipped, but a fitted line needs a few points.
    if (!isTimeLeft() && (i >= SHAPES_MIN || !isFirst)) break
    if (isFirst && question.isWarm) for (let i = 0; i < WARM_UP_CALLS; i += 1) step(shape)
    if (isFirst) forgetPeak()
    const time = step(shape)
    say<StepTime>({ ...time, ...(isFirst && { memoryBytes: await memoryBytes() }) })
  }
}
gpus.close()

function isTimeLeft(): boolean {
  return performance.now() - startedAt < 1_000 * question.secondsMax
}

/** Times a batch from its first step until its lanes are closed, per step. */
function step({ seconds, batch }: { seconds: number; batch: number }): StepTime {
  const lanes = Array.from({ length: batch }, (_, i) => {
    // different noise, because lanes with equal mixtures share work
    const channels = [noise(seconds, rate, i + 1)]
    const chunk = { channels, sampleRate: rate }
    return openLane(model, { chunk, prompt: 'rain', spans: [], acceleration: 'fast', seed: i })
  })
  const frames = Math.max(...lanes.map((lane) => lane.frames))
  const { steps } = lanes[0]!
  const openedAt = performance.now()
  while (lanes[0]!.stepsDone < steps) model.step(lanes)
  for (const lane of lanes) closeLane(model, lane)
  const stepSeconds = (performance.now() - openedAt) / 1_000 / steps
  return { batch, seconds, frames: batch * frames, stepSeconds }
}

async function gpuMemory(): Promise<{ used: number; total: number } | null> {
  if (deviceKind() === 'cpu') return null
  const [gpu] = await gpus.read()
  if (gpu?.memoryUsedBytes === undefined || gpu.memoryTotalBytes === undefined) return null
  return { used: gpu.memoryUsedBytes, total: gpu.memoryTotalBytes }
}

/** Returns the process's peak memory since `forgetPeak`, or the GPU's memory in use. */
async function memoryBytes(): Promise<number> {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return (await gpuMemory())?.used ?? 1_024 * Number(peak)
}

function forgetPeak(): void {
  writeFileSync('/proc/self/clear_refs', '5')
}

function say<T>(line: T): void {
  console.log(JSON.stringify(line))
}
