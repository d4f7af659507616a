/**
 * The worker side of a compute, in a thread of the engine or in a process of its own. It owns
 * TensorFlow and the models, and runs one command at a time.
 */

import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { compiler, graphsHeld } from '../../models/graph/compiled.ts'
import { usesXla } from '../../models/graph/xla.ts'
import { memoryOf } from '../threads/task-thread.ts'
import { loadModel } from '../../models/load-model.ts'
import type { ModelChoice } from '../../models/model-choice.ts'
import {
  bytesFor,
  framesThatFit,
  predictMemory,
  type MemoryPrediction,
} from '../../models/memory/predict.ts'
import {
  backendVersion,
  deviceKind,
  deviceWarnings,
  native,
} from '../../models/tensorflow/tensor.ts'
import type { HeadResult, Lane, Model } from '../../models/model.ts'
import type { MemoryStats } from '../../models/tensorflow/binding.ts'
import { TAGGER } from '../../models/tagger/config.ts'
import { loadTagger } from '../../models/tagger/tagger.ts'
import { freeFor, openOwnGpu } from '../gpu/own-gpu.ts'
import { chooseFrames } from './batch-budget.ts'
import type {
  Command,
  DeviceState,
  FromWorker,
  LoadedModel,
  Replies,
  ToWorker,
  WorkerOptions,
} from './compute-messages.ts'
import { warmUpServed } from './served-shapes.ts'

interface ModelEntry<M extends Model = Model> {
  model: M
  /** Null if memory is not counted. */
  prediction: MemoryPrediction | null
}

interface OpenLane {
  model: Model
  lane: Lane
}

if (!parentPort) throw new Error('compute-worker.ts runs in a worker thread only')
const port = parentPort
const options = workerData as WorkerOptions
const models = new Map<string, ModelEntry>()
const lanes = new Map<number, OpenLane>()
let lanesOpened = 0
/** The most that the allocator has handed out at once. */
let memoryPeakBytes = 0
/** Memory of a process without models on a CPU: Node and TensorFlow. */
const PROCESS_BYTES = 300 * 2 ** 20
/** Linux allows 15 characters. */
const THREAD_NAME = 'winnow-compute'
/** How long to wait before checking again whether lanes are open. */
const IDLE_MS = 250

nameThread()
const isOnGpu = deviceKind() === 'gpu'
const warnings = deviceWarnings()
let warn = (line: string): void => void warnings.push(line)
compiler.onRefusal = (reason) => warn(`XLA refused a graph, which goes on as it is: ${reason}`)
const gpu = isOnGpu ? await openOwnGpu(options.visibleGpus) : null
if (gpu?.warning) warn(gpu.warning)
const leftOut = isOnGpu ? [] : (options.leftOut ?? [])
for (const choice of options.models) {
  if (!leftOut.includes(choice.name)) await loadChoice(choice)
}
const tagger = leftOut.includes(TAGGER) ? null : await load(TAGGER, loadTagger)
for (const { model } of models.values()) warmUp(model)
/** Commands are answered one after the other, even while a model is loading. */
let answered = Promise.resolve()
port.on('message', (message: ToWorker) => {
  answered = answered.then(() => answer(message))
})
const freeAtStart = await freeBytes()
say({
  ready: {
    models: describeModels(freeAtStart),
    tagger: tagger && { ...describeModel(tagger, freeAtStart), config: tagger.model.config },
    backend: backendVersion(),
    device: deviceKind(),
    warnings: [...warnings, ...[...models.values()].flatMap(({ model }) => model.warnings)],
  },
  held: deviceState(),
})
warn = (line) => say({ level: 'warn', line })
void warmUpShapes([...models.values()], freeAtStart)

async function answer({ call, ...command }: ToWorker): Promise<void> {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  try {
    const value = command.type === 'load' ? await loadNow(command.choice) : runCommand(command)
    say({ call, seconds: seconds(), held: deviceState(), value }, transferables(value))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    say({ call, seconds: seconds(), held: deviceState(), error: message })
  }
}

async function loadNow(choice: ModelChoice): Promise<Replies['load']> {
  const loaded = await loadChoice(choice)
  warmUp(loaded.model)
  const free = await freeBytes()
  void warmUpShapes([loaded], free)
  return { models: describeModels(free) }
}

function runCommand(command: Exclude<Command, { type: 'load' }>): Replies[Command['type']] {
  switch (command.type) {
    case 'open': {
      const model = modelOf(command.model)
      return model.open(command.request, command.heads).map((lane) => {
        const id = ++lanesOpened
        lanes.set(id, { model, lane })
        return {
          lane: id,
          heads: lane.heads,
          rows: lane.rows,
          frames: lane.frames,
          steps: lane.steps,
        }
      })
    }
    case 'step': {
      const open = command.lanes.map(laneOf)
      open[0]?.model.step(open.map(({ lane }) => lane))
      return null
    }
    case 'close': {
      const open = laneOf(command.lane)
      lanes.delete(command.lane)
      return closeLane(open)
    }
    case 'discard': {
      const open = lanes.get(command.lane)
      open?.model.discard(open.lane)
      lanes.delete(command.lane)
      return null
    }
    case 'beat':
      return null
  }
}

/** Frees the lane even if its result cannot be read. */
function closeLane({ model, lane }: OpenLane): HeadResult[] {
  try {
    return model.close(lane)
  } catch (error) {
    model.discard(lane)
    throw error
  }
}

function laneOf(id: number): OpenLane {
  const open = lanes.get(id)
  if (!open) throw new Error(`no lane ${id} is open`)
  return open
}

function modelOf(name: string): Model {
  const loaded = models.get(name)
  if (!loaded) throw new Error(`no model ${name} is loaded`)
  return loaded.model
}

function loadChoice(choice: ModelChoice): Promise<ModelEntry> {
  const isTooOld = gpu?.hasBfloat16 === false && options.precision === 'auto'
  const precision = isTooOld ? 'float32' : options.precision
  return load(choice.name, () => loadModel(choice, { ...options, precision }))
}

/**
 * Loads a model in addition to the others.
 * @throws Error if there is no memory for its weights and one lane; whatever `read` throws
 */
async function load<M extends Model>(name: string, read: () => Promise<M>): Promise<ModelEntry<M>> {
  const prediction = isCounted() ? await predictMemory(read) : null
  if (prediction) assertFits(name, prediction, isOnGpu ? await freeBytes() : options.freeBytes!)
  const loaded = { model: await read(), prediction: isOnGpu ? prediction : null }
  models.set(loaded.model.description.name, loaded)
  return loaded
}

/** Whether the memory of models is predicted and compared with what is free. */
function isCounted(): boolean {
  if (isOnGpu) return options.batchFramesMax === 'auto'
  return options.freeBytes !== undefined
}

function assertFits(name: string, prediction: MemoryPrediction, free: number): void {
  const needed = prediction.weightsBytes + bytesFor(1, prediction) + (isOnGpu ? 0 : PROCESS_BYTES)
  if ((isOnGpu && free <= 0) || needed <= free) return
  const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1)
  throw new Error(
    `${name} needs ${gigabytes(needed)} GB of ${isOnGpu ? "the device's " : ''}memory next to ` +
      `the models that are loaded, and ${gigabytes(free)} GB are left. ` +
      (isOnGpu ? 'Name fewer in MODELS.' : 'Unload another first.'),
  )
}

/**
 * Describes all models but the tagger, in the order in which they were loaded.
 * @param free bytes
 */
function describeModels(free: number): LoadedModel[] {
  const separating = [...models].filter(([name]) => name !== TAGGER)
  return separating.map(([, entry]) => describeModel(entry, free))
}

function describeModel({ model, prediction }: ModelEntry, free: number): LoadedModel {
  const { description } = model
  return { description, framesFitting: prediction && framesThatFit(free, prediction) }
}

function deviceState(): DeviceState {
  const { inUse } = allocated()
  const residentBytes = process.memoryUsage.rss()
  return { graphs: graphsHeld(), memoryBytes: inUse, memoryPeakBytes, residentBytes }
}

/** The allocator's statistics, with the peak since the start. */
function allocated(): MemoryStats {
  const { inUse = 0, peak = 0, limit = 0 } = native.binding.memoryStats() ?? {}
  memoryPeakBytes = Math.max(memoryPeakBytes, peak)
  return { inUse, peak: memoryPeakBytes, limit }
}

/** Memory of a GPU that the models may still take; not counted on a CPU. */
async function freeBytes(): Promise<number> {
  return freeFor(allocated(), await gpu?.freeBytes())
}

/** Names the thread for tools that list threads (`top -H`, debuggers). */
function nameThread(): void {
  try {
    writeFileSync('/proc/thread-self/comm', THREAD_NAME)
  } catch {
    // without a writable /proc the thread works just as well, but has no name
  }
}

/** The first call of every kernel is slow, so it is made before the first job. */
function warmUp(model: Model): void {
  const { sampleRate, fixedChunks, stems } = model.description
  const rate = sampleRate ?? 32_000
  const chunk = { channels: [new Float32Array(fixedChunks?.samples ?? rate)], sampleRate: rate }
  const head = { prompt: 'speech', stems, seed: 0 }
  const lanes = model.open({ chunk, spans: [], acceleration: 'fast' }, [head])
  for (const lane of lanes) {
    while (lane.stepsDone < lane.steps) model.step([lane])
    model.close(lane)
  }
}

/** Warms up the shapes that are served, one model after the other, on a GPU or if XLA compiles. */
async function warmUpShapes(entries: readonly ModelEntry[], free: number): Promise<void> {
  if (!isOnGpu && !usesXla()) return
  const host = { turn: inTurn, compiling: () => compiler.compiling }
  for (const entry of entries) {
    const { name } = entry.model.description
    const framesMax = chooseFrames(options.batchFramesMax, describeModel(entry, free))
    try {
      await warmUpServed(entry.model, framesMax, host)
      say({ level: 'info', line: `${name} is warm in the shapes that are served` })
    } catch (error) {
      warn(`${name} could not be warmed up further: ${(error as Error).message}`)
    }
  }
}

/** Runs a call of a model between commands, once no lane is open. */
async function inTurn<T>(call: () => T): Promise<T> {
  while (lanes.size > 0) await sleep(IDLE_MS)
  const done = answered.then(call)
  answered = done.then(
    () => undefined,
    () => undefined,
  )
  return done
}

/** Audio is transferred, not copied. */
function transferables(value: Replies[Command['type']]): ArrayBuffer[] {
  if (!Array.isArray(value)) return []
  const results = value.filter((part): part is HeadResult => 'target' in part)
  return memoryOf(
    results.flatMap(({ target, overlapState, tags }) => [
      ...target,
      ...(overlapState ? [overlapState.states] : []),
      ...(tags ? [tags] : []),
    ]),
  )
}

function say(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer)
}
