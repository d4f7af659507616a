/**
 * Run by checks/compute.ts in a process of its own, because a broken library may crash it. Loads
 * TensorFlow and the model, separates one second, and prints a line of JSON after each step.
 */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../../../engine/config.ts'

const EXAMPLE = fileURLToPath(new URL('../../../examples/speech-over-piano.wav', import.meta.url))
const HEADER_BYTES = 44
const START_SECONDS = 2
const SAMPLE_RATE = 44_100

export interface TensorFlowReport {
  backend: string
  device: 'cpu' | 'gpu'
}

export interface SeparationReport {
  model: string
  loadSeconds: number
  separateSeconds: number
  samples: number
  /** Share of the mixture's energy: 0 for silence, 1 for everything. */
  targetShare: number
  isFinite: boolean
}

const config = loadConfig({ NATS_URL: 'nats://127.0.0.1', ...process.env })
const { backendVersion, deviceKind } = await import('../../../models/tensorflow/tensor.ts')
say({ backend: backendVersion(), device: deviceKind() } satisfies TensorFlowReport)
const { loadModel } = await import('../../../models/load-model.ts')
const { closeLane, openLane } = await import('../../../models/model.ts')
const startedAt = performance.now()
const model = await loadModel(config.models.at(-1)!, config)
const loadedAt = performance.now()
const sampleRate = model.description.sampleRate ?? SAMPLE_RATE
const mixture = await readSecond(EXAMPLE)
const lane = openLane(model, {
  chunk: { channels: [Float32Array.from(mixture)], sampleRate },
  prompt: 'a person speaking',
  spans: [],
  acceleration: 'fast',
  seed: 0,
})
while (lane.stepsDone < lane.steps) model.step([lane])
const { target } = closeLane(model, lane)
say(judge(mixture, target[0]!))
process.exit()

function judge(mixed: Float32Array, sound: Float32Array): SeparationReport {
  const energy = (samples: Float32Array) => samples.reduce((sum, value) => sum + value ** 2, 0)
  return {
    model: model.description.name,
    loadSeconds: (loadedAt - startedAt) / 1_000,
    separateSeconds: (performance.now() - loadedAt) / 1_000,
    samples: sound.length,
    targetShare: energy(sound) / energy(mixed),
    isFinite: sound.every(Number.isFinite),
  }
}

/** One second of the example, which is 16-bit mono, at whatever rate the model assumes. */
async function readSecond(path: string): Promise<Float32Array> {
  const bytes = await readFile(path)
  const start = HEADER_BYTES + 2 * START_SECONDS * SAMPLE_RATE
  return Float32Array.from(
    { length: sampleRate },
    (_, i) => bytes.readInt16LE(start + 2 * i) / 2 ** 15,
  )
}

function say(report: object): void {
  console.log(JSON.stringify(report))
}
