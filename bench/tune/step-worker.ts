/**
 * Times batches of a model by themselves, in a process of its own, and tells the memory that they
 * take: `step-worker.ts <StepQuestion as JSON>`; prints one StepModel, then StepTimes, as JSON.
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
  chunkSecondsMax,
  memoryBytes:
    (await gpuMemory())?.total ?? Math.min(totalmem(), process.constrainedMemory?.() || Infinity),
})

const SHAPES_LEAST = 4
const shapes = question.chunkShares
  .flatMap((share) =>
    question.batches.map((batch) => ({ seconds: share * chunkSecondsMax, batch })),
  )
  .sort((a, b) => a.seconds * a.batch - b.seconds * b.batch) // memory is kept: the least first
for (let round = 0; round === 0 || isTimeLeft(); round += 1) {
  for (const [i, shape] of shapes.entries()) {
    const isFirst = round === 0
    // The largest go where the time is short; a line needs some.
    if (!isTimeLeft() && (i >= SHAPES_LEAST || !isFirst)) break
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

/** From opening the lanes of a batch to their results, for one of its steps. */
function step({ seconds, batch }: { seconds: number; batch: number }): StepTime {
  const lanes = Array.from({ length: batch }, (_, i) => {
    const channels = [noise(seconds, rate, i + 1)] // each lane has its own sound
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

/** The most that the process held since `forgetPeak`, or what the GPU holds. */
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
