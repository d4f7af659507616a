/**
 * Predicts the memory that a model needs on its device, for its weights and for lanes. It runs
 * lanes through the model on shapes alone (shape-binding.ts), operation by operation, so the
 * prediction holds for any model and size. The libraries' own memory (workspaces of convolutions,
 * fragmentation) comes on top.
 */
import { openLane, type Lane, type Model } from '../model.ts'
import { withShapeBinding } from './shape-binding.ts'

export interface MemoryPrediction {
  /** In the precision in which they are held. */
  weightsBytes: number
  /** Length of the chunks that the rest applies to. */
  chunkSeconds: number
  /** Frames of a lane with such a chunk. */
  frames: number
  /** What each call needs: opening, every step, closing. */
  calls: CallNeed[]
}

/**
 * How many lanes the larger of the two compared batches has. With two lanes the peak may be what
 * one of them needs alone while its target is made; with several it is what they need together in
 * the network.
 */
const FEW = 4
const MANY = 8

interface CallNeed {
  /** The peak for one lane, or for lanes that share it, without weights. */
  firstBytes: number
  /** How much each further lane in the same batch adds. */
  nextBytes: number
}

/**
 * @param load loads a model for this purpose only; it cannot compute anything
 * @param chunkSeconds of each lane; by default the longest, which needs the most per frame
 * @throws whatever `load` throws
 */
export function predictMemory(
  load: () => Promise<Model>,
  chunkSeconds?: number,
): Promise<MemoryPrediction> {
  return withShapeBinding(async (memory) => {
    const model = await load()
    const weightsBytes = memory.inUse
    runLanes(model, { lanes: 1, seconds: 1 }, () => {}) // constants are made at the first use
    const seconds = chunkSeconds ?? model.description.chunkSecondsMax
    memory.takePeak()
    const [one, few, many] = [1, FEW, MANY].map((lanes) => {
      const bytes: number[] = []
      const onCall = () => void bytes.push(memory.takePeak() - weightsBytes)
      return { frames: runLanes(model, { lanes, seconds }, onCall), bytes }
    }) as [LaneTrial, LaneTrial, LaneTrial]
    const calls = one.bytes.map((firstBytes, i) => {
      const nextBytes = (many.bytes[i]! - few.bytes[i]!) / (MANY - FEW)
      // What a batch needs apart from its lanes counts towards the first lane.
      return { firstBytes: Math.max(firstBytes, few.bytes[i]! - (FEW - 1) * nextBytes), nextBytes }
    })
    return { weightsBytes, chunkSeconds: seconds, frames: one.frames, calls }
  })
}

interface LaneTrial {
  frames: number
  /** One for each call. */
  bytes: number[]
}

/** The peak for this many lanes in one batch, without weights. */
export const bytesFor = (lanes: number, { calls }: MemoryPrediction): number =>
  Math.max(...calls.map(({ firstBytes, nextBytes }) => firstBytes + (lanes - 1) * nextBytes))

/** Lanes in one batch, each with its own chunk. */
export interface LaneLoad {
  lanes: number
  /** Length of each chunk. */
  seconds: number
}

/**
 * Like `laneCalls`, but without pauses.
 * @param onCall is called after each call of the model
 * @returns frames of each lane, over all its rows
 */
export function runLanes(model: Model, load: LaneLoad, onCall: () => void): number {
  const calls = laneCalls(model, load)
  for (;;) {
    const { done, value } = calls.next()
    if (done) return value
    onCall()
  }
}

/**
 * Opens lanes with everything that costs memory (two channels, predicted spans, scores of
 * candidates), steps them together until they are done, and closes them. Yields after each call of
 * the model.
 * @returns frames of each lane, over all its rows
 */
export function* laneCalls(
  model: Model,
  { lanes: count, seconds }: LaneLoad,
): Generator<void, number> {
  const lanes = Array.from({ length: count }, (_, i) => openLongLane(model, seconds, i))
  const open = new Set(lanes)
  const [{ rows, frames } = { rows: 0, frames: 0 }] = lanes
  try {
    yield
    for (;;) {
      const busy = lanes.filter((lane) => lane.stepsDone < lane.steps)
      if (busy.length === 0) break
      model.step(busy)
      yield
    }
    for (const lane of lanes) {
      model.close(lane)
      open.delete(lane)
    }
    yield
  } finally {
    for (const lane of open) model.discard(lane)
  }
  return rows * frames
}

/** For models that take any rate. */
const DEFAULT_RATE = 44_100

function openLongLane(model: Model, seconds: number, seed: number): Lane {
  const { sampleRate, fixedChunks, predictsSpans, givesCandidates, stems } = model.description
  const rate = sampleRate ?? DEFAULT_RATE
  const samples = new Float32Array(fixedChunks?.samples ?? Math.round(seconds * rate))
  const channels = [samples, samples.slice()]
  return openLane(model, {
    chunk: { channels, sampleRate: rate },
    prompt: 'someone speaks in a large hall',
    stems,
    spans: [],
    acceleration: 'fast',
    seed,
    predictSpans: predictsSpans,
    candidates: givesCandidates ? 2 : 1,
  })
}

/**
 * The share of free memory for batches; the rest is for waiting lanes, workspaces and
 * fragmentation.
 */
const SHARE_OF_FREE = 0.7

/**
 * How many frames the largest batch that fits can have, assuming lanes of full length, which need
 * the most per frame. At least the frames of one lane, which then runs alone if at all.
 * @param freeBytes free memory of the device with the weights loaded
 */
export function framesThatFit(freeBytes: number, { frames, calls }: MemoryPrediction): number {
  const further = calls.map(({ firstBytes, nextBytes }) =>
    Math.floor((SHARE_OF_FREE * freeBytes - firstBytes) / Math.max(1, nextBytes)),
  )
  return frames * (1 + Math.max(0, Math.min(...further)))
}
