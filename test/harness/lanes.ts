/** Chunks to separate, and the separation of a lane alone or among others. */
import {
  openLane,
  closeLane,
  type Acceleration,
  type Chunk,
  type LaneRequest,
  type HeadResult,
  type Model,
} from '../../models/model.ts'

export const PROMPTS = ['piano', 'a dog barking', 'rain', 'person speaking']

/** The same noise for the same seed, from -amplitude to amplitude: a 32-bit generator. */
export function noise(samples: number, seed: number, amplitude = 0.3): Float32Array {
  let state = seed >>> 0
  return Float32Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return amplitude * (state / 2 ** 31 - 1)
  })
}

export function laneRequest(
  chunk: Chunk,
  prompt = 'piano',
  acceleration: Acceleration = 'fast',
): LaneRequest {
  return { chunk, prompt, spans: [], acceleration, seed: 1 }
}

/** Separates all in common batches, the ones still busy at each step, as an engine would. */
export function separate(model: Model, requests: readonly LaneRequest[]): HeadResult[] {
  const lanes = requests.map((request) => openLane(model, request))
  for (;;) {
    const busy = lanes.filter((lane) => lane.stepsDone < lane.steps)
    if (busy.length === 0) return lanes.map((lane) => closeLane(model, lane))
    model.step(busy)
  }
}

export function separateOne(model: Model, request: LaneRequest): HeadResult {
  const [separation] = separate(model, [request])
  return separation!
}
