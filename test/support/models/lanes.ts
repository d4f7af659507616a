/** Makes chunks, and separates a lane alone or in batches with others. */
import {
  openLane,
  closeLane,
  type Acceleration,
  type Chunk,
  type LaneRequest,
  type HeadResult,
  type Model,
} from '../../../models/model.ts'

export const PROMPTS = ['piano', 'a dog barking', 'rain', 'person speaking']

/** Noise from -amplitude to amplitude, from a 32-bit generator that depends only on the seed. */
export function noise(samples: number, seed: number, amplitude = 0.3): Float32Array {
  let state = seed >>> 0
  return Float32Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return amplitude * (state / 2 ** 31 - 1)
  })
}

/** Decaying harmonic notes over noise, at 32 kHz; a new note every half second, up to three. */
export function notes(samples: number): Float32Array {
  const wave = noise(samples, 1, 0.03)
  for (const [i, pitch] of [220, 277.2, 329.6].entries()) {
    for (let at = i * 16_000; at < samples; at += 1) {
      const seconds = at / 32_000 - i / 2
      for (let harmonic = 1; harmonic <= 8; harmonic += 1) {
        const phase = 2 * Math.PI * pitch * harmonic * seconds
        wave[at]! += (0.1 / harmonic) * Math.exp(-4 * seconds) * Math.sin(phase)
      }
    }
  }
  return wave
}

export function laneRequest(
  chunk: Chunk,
  prompt = 'piano',
  acceleration: Acceleration = 'fast',
): LaneRequest {
  return { chunk, prompt, spans: [], acceleration, seed: 1 }
}

/** Separates all lanes in batches of those still busy at each step, as an engine would. */
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
