/**
 * The compute thread's own side: it owns TensorFlow and the model, and runs one command at a time.
 */

import { writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { graphsHeld } from '../../models/graph/compiled.ts'
import { loadModel } from '../../models/load-model.ts'
import { framesThatFit, predictMemory, type MemoryPrediction } from '../../models/memory/predict.ts'
import { backendVersion, deviceKind, deviceWarnings, native } from '../../models/tensor.ts'
import type { Lane, LaneResult } from '../../models/model.ts'
import type {
  Command,
  DeviceState,
  FromWorker,
  Replies,
  ToWorker,
  WorkerOptions,
} from './compute-messages.ts'

if (!parentPort) throw new Error('compute-worker.ts runs in a worker thread only')
const port = parentPort
const options = workerData as WorkerOptions
const prediction = await predicted()
const model = await loadModel(options.model, options)
const lanes = new Map<number, Lane>()
let memoryPeakBytes = 0
/** Of at most 15 characters. */
const THREAD_NAME = 'winnow-compute'

nameThread()
warmUp()
port.on('message', answer)
say({
  ready: {
    description: model.description,
    backend: backendVersion(),
    device: deviceKind(),
    framesFitting: prediction && framesThatFit(freeBytes(), prediction),
    warnings: [...deviceWarnings(), ...model.warnings],
  },
  held: held(),
})

function answer({ call, ...command }: ToWorker): void {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  try {
    const value = obey(command)
    say({ call, seconds: seconds(), held: held(), value }, transferables(value))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    say({ call, seconds: seconds(), held: held(), error: message })
  }
}

function obey(command: Command): Replies[Command['type']] {
  switch (command.type) {
    case 'open': {
      const lane = model.open(command.request)
      lanes.set(command.lane, lane)
      return { rows: lane.rows, frames: lane.frames, steps: lane.steps }
    }
    case 'step': {
      model.step(command.lanes.map(laneOf))
      return null
    }
    case 'close': {
      const lane = laneOf(command.lane)
      lanes.delete(command.lane)
      return closed(lane)
    }
    case 'discard': {
      const lane = lanes.get(command.lane)
      if (lane) model.discard(lane)
      lanes.delete(command.lane)
      return null
    }
    case 'beat':
      return null
  }
}

/** A lane whose result cannot be read is freed too. */
function closed(lane: Lane): LaneResult {
  try {
    return model.close(lane)
  } catch (error) {
    model.discard(lane)
    throw error
  }
}

function laneOf(id: number): Lane {
  const lane = lanes.get(id)
  if (!lane) throw new Error(`no lane ${id} is open`)
  return lane
}

/** What the model takes, where it is needed: a processor's memory is not counted. */
async function predicted(): Promise<MemoryPrediction | null> {
  if (options.batchFramesMax !== 'auto' || deviceKind() !== 'gpu') return null
  return predictMemory(() => loadModel(options.model, options))
}

function held(): DeviceState {
  const { inUse = 0, peak = 0 } = native.binding.memoryStats() ?? {}
  memoryPeakBytes = Math.max(memoryPeakBytes, peak)
  return { graphs: graphsHeld(), memoryBytes: inUse, memoryPeakBytes }
}

/** Of the device, by its allocator. */
function freeBytes(): number {
  const { limit = 0, inUse = 0 } = native.binding.memoryStats() ?? {}
  return limit - inUse
}

/** Shown by what lists the threads of an engine (`top -H`, a debugger). */
function nameThread(): void {
  try {
    writeFileSync('/proc/thread-self/comm', THREAD_NAME)
  } catch {
    // where /proc can't be written, the thread works as well without a name
  }
}

/** The first call of every kernel is slow, so it is made before any job. */
function warmUp(): void {
  const sampleRate = model.description.sampleRate ?? 32_000
  const chunk = { channels: [new Float32Array(sampleRate)], sampleRate }
  const lane = model.open({ chunk, prompt: 'speech', spans: [], acceleration: 'fast', seed: 0 })
  while (lane.stepsDone < lane.steps) model.step([lane])
  model.close(lane)
}

/** Audio is transferred, not copied. */
function transferables(value: Replies[Command['type']]): ArrayBuffer[] {
  if (!value || !('target' in value)) return []
  const overlapState = value.overlapState ? [value.overlapState.states] : []
  const arrays = [...value.target, ...value.residual, ...overlapState]
  return arrays.map(({ buffer }) => buffer as ArrayBuffer)
}

function say(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}
