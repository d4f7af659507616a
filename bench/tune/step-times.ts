/** Measures the time and memory of a batch by its frames, and fits lines to both. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fitLine, fitTimes, type Line } from '../statistics/fit.ts'

export interface StepQuestion {
  /** Lengths of chunks, as shares of the model's longest one. */
  chunkShares: readonly number[]
  batches: readonly number[]
  /** Whether every shape is computed some times first, because the first calls are slower. */
  isWarm: boolean
  /** After this time nothing new starts, once the smallest shapes were measured once. */
  secondsMax: number
}

/** The measured model and its device, as the process reports them. */
export interface StepModel {
  model: string
  device: 'cpu' | 'gpu'
  chunkFrames: number
  /** Memory of the device. */
  memoryBytes: number
}

export interface StepTime {
  batch: number
  /** Length of each chunk. */
  seconds: number
  /** Frames of the whole batch. */
  frames: number
  stepSeconds: number
  /** Peak memory, measured for the first step of each shape. */
  memoryBytes?: number
}

export interface StepTimes {
  model: StepModel
  times: StepTime[]
}

export interface StepFit {
  /** Seconds by frames. */
  time: Line
  /** Bytes by frames. */
  memory: Line
  /** From this many frames on, a batch reaches 97 % of the speed of an endless one. */
  framesForSpeed: number
}

const WORKER = fileURLToPath(new URL('step-worker.ts', import.meta.url))
const SPEED_SHARE = 0.97
const OUTPUT_BYTES_MAX = 2 ** 24

export async function measureSteps(question: StepQuestion): Promise<StepTimes> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', WORKER, JSON.stringify(question)],
    { maxBuffer: OUTPUT_BYTES_MAX },
  )
  // Skips lines that TensorFlow may print.
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
  const [model, ...times] = lines.map((line) => JSON.parse(line) as unknown)
  return { model: model as StepModel, times: times as StepTime[] }
}

export function fitSteps(times: readonly StepTime[]): StepFit {
  const time = fitTimes(times.map(({ frames, stepSeconds }) => ({ x: frames, y: stepSeconds })))
  const memory = times.flatMap(({ frames, memoryBytes }) =>
    memoryBytes === undefined ? [] : [{ x: frames, y: memoryBytes }],
  )
  const fixed = Math.max(0, time.intercept)
  return {
    time,
    memory: fitLine(memory),
    framesForSpeed: Math.ceil((SPEED_SHARE * fixed) / (1 - SPEED_SHARE) / time.slope),
  }
}
