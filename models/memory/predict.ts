/**
 * The memory that a model takes on its device: for its weights, and for lanes on their way through
 * it. Found by taking lanes through the model on shapes alone (shape-binding.ts), operation by
 * operation, so that it holds for any model and size. Libraries' own memory (workspaces of
 * convolutions, fragments of the allocator) comes on top.
 */
import { openLane, type Lane, type Model } from '../model.ts'
import { withShapeBinding } from './shape-binding.ts'

export interface MemoryPrediction {
  /** As they are held, in the width of the products. */
  weightsBytes: number
  /** Length of the chunks that the rest is for. */
  chunkSeconds: number
  /** A lane's, with such a chunk. */
  frames: number
  /** Needs per call: opening, every step, closing. */
  calls: CallNeed[]
}

/**
 * Lanes in the batches that are compared. Of two lanes the most may be what one takes alone, as its
 * target is made; of many it is what they take together, in the network.
 */
const FEW = 4
const MANY = 8

interface CallNeed {
  /** The most that one lane takes, or lanes that share it, weights excluded. */
  firstBytes: number
  /** Addition of each further lane in the same batch. */
  nextBytes: number
}

/**
 * @param load the model, for this alone: what it gives cannot be used
 * @param chunkSeconds of each lane; by default the longest, which takes the most for each frame
 * @throws what `load` throws
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
      // What a batch takes besides its lanes counts for the first.
      return { firstBytes: Math.max(firstBytes, few.bytes[i]! - (FEW - 1) * nextBytes), nextBytes }
    })
    return { weightsBytes, chunkSeconds: seconds, frames: one.frames, calls }
  })
}

interface LaneTrial {
  frames: number
  /** Per call. */
  bytes: number[]
}

/** The most that so many lanes in one batch take at any time, weights excluded. */
export const bytesFor = (lanes: number, { calls }: MemoryPrediction): number =>
  Math.max(...calls.map(({ firstBytes, nextBytes }) => firstBytes + (lanes - 1) * nextBytes))

/** Lanes in one batch, each of a chunk of its own. */
export interface LaneLoad {
  lanes: number
  /** Length of each chunk. */
  seconds: number
}

/**
 * As `laneCalls`, all at once.
 * @param onCall called after each call of the model
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
 * Opens lanes with all that costs memory (two channels, predicted spans, the score of candidates),
 * steps them together to their ends and closes them. Yields after each call of the model.
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

/** For a model that takes any rate. */
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
 * Share of the free memory for batches: the rest is for lanes that wait, workspaces and fragments.
 */
const SHARE_OF_FREE = 0.7

/**
 * Frames of the largest batch that fits: of lanes as long as they can be, which take the most for
 * each of their frames. At least one lane's; that one runs alone if anything does.
 * @param freeBytes of the device, the weights being there already
 */
export function framesThatFit(freeBytes: number, { frames, calls }: MemoryPrediction): number {
  const further = calls.map(({ firstBytes, nextBytes }) =>
    Math.floor((SHARE_OF_FREE * freeBytes - firstBytes) / Math.max(1, nextBytes)),
  )
  return frames * (1 + Math.max(0, Math.min(...further)))
}
