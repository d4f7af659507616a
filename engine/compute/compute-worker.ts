/**
 * A compute's own side, in a thread of the engine or of a process of its own: it owns TensorFlow
 * and the models, and runs one command at a time.
 */

import { writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { graphsHeld } from '../../models/graph/compiled.ts'
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
import { TAGGER } from '../../models/tagger/config.ts'
import { loadTagger } from '../../models/tagger/tagger.ts'
import type {
  Command,
  DeviceState,
  FromWorker,
  LoadedModel,
  Replies,
  ToWorker,
  WorkerOptions,
} from './compute-messages.ts'

interface ModelEntry<M extends Model = Model> {
  model: M
  /** Null where memory is not counted. */
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
let memoryPeakBytes = 0
/** Memory of a process without a model, on a processor: Node and TensorFlow. */
const PROCESS_BYTES = 300 * 2 ** 20
/** At most 15 characters. */
const THREAD_NAME = 'winnow-compute'

nameThread()
const leftOut = deviceKind() === 'cpu' ? (options.leftOut ?? []) : []
const chosen: ModelEntry[] = []
for (const choice of options.models) {
  if (!leftOut.includes(choice.name)) chosen.push(await loadChoice(choice))
}
const tagger = leftOut.includes(TAGGER) ? null : await load(TAGGER, loadTagger)
for (const { model } of models.values()) warmUp(model)
/** Commands are answered one after the other, also while a model is loaded. */
let answered = Promise.resolve()
port.on('message', (message: ToWorker) => {
  answered = answered.then(() => answer(message))
})
say({
  ready: {
    models: chosen.map(describeModel),
    tagger: tagger && { ...describeModel(tagger), config: tagger.model.config },
    backend: backendVersion(),
    device: deviceKind(),
    warnings: [...deviceWarnings(), ...[...models.values()].flatMap(({ model }) => model.warnings)],
  },
  held: deviceState(),
})

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
  chosen.push(loaded)
  return { models: chosen.map(describeModel) }
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

/** A lane whose result cannot be read is freed too. */
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
  return load(choice.name, () => loadModel(choice, options))
}

/**
 * Loads a model next to those that are loaded.
 * @throws Error when there is no room for its weights and one lane; what `read` throws
 */
async function load<M extends Model>(name: string, read: () => Promise<M>): Promise<ModelEntry<M>> {
  const prediction = isCounted() ? await predictMemory(read) : null
  if (prediction) assertFits(name, prediction)
  const loaded = { model: await read(), prediction: deviceKind() === 'gpu' ? prediction : null }
  models.set(loaded.model.description.name, loaded)
  return loaded
}

/** Returns whether the memory that models take is predicted, and compared with what is free. */
function isCounted(): boolean {
  if (deviceKind() === 'gpu') return options.batchFramesMax === 'auto'
  return options.freeBytes !== undefined
}

function assertFits(name: string, prediction: MemoryPrediction): void {
  const isGpu = deviceKind() === 'gpu'
  const needed = prediction.weightsBytes + bytesFor(1, prediction) + (isGpu ? 0 : PROCESS_BYTES)
  const free = isGpu ? freeBytes() : options.freeBytes!
  if ((isGpu && free <= 0) || needed <= free) return
  const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(1)
  throw new Error(
    `${name} needs ${gigabytes(needed)} GB of ${isGpu ? "the device's " : ''}memory next to the ` +
      `models that are loaded, and ${gigabytes(free)} GB are left. ` +
      (isGpu ? 'Name fewer in MODELS.' : 'Unload another first.'),
  )
}

function describeModel({ model: { description }, prediction }: ModelEntry): LoadedModel {
  return { description, framesFitting: prediction && framesThatFit(freeBytes(), prediction) }
}

function deviceState(): DeviceState {
  const { inUse = 0, peak = 0 } = native.binding.memoryStats() ?? {}
  memoryPeakBytes = Math.max(memoryPeakBytes, peak)
  const residentBytes = process.memoryUsage.rss()
  return { graphs: graphsHeld(), memoryBytes: inUse, memoryPeakBytes, residentBytes }
}

/** Free memory of a GPU, by its allocator. */
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
