/**
 * How fast does SAM-Audio separate whole requests, alone and several at once? A folder as
 * `MODEL=sam-audio:<folder>` takes it; without one the tiny random model of the tests, which tells
 * what batching saves where products of matrices are not what takes the time. Cases in turns.
 *
 *   npm run bench -- separations --folder <folder> --seconds 10 --requests 1,2,4,8
 */
import { fileURLToPath } from 'node:url'
import { readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { type Acceleration, closeLane, type Model, openLane } from '../models/model.ts'
import { loadSamAudio } from '../models/sam-audio/sam-audio.ts'
import { backendVersion, deviceKind } from '../models/tensorflow/tensor.ts'
import { noise } from '../test/support/media/signals.ts'
import { quantile, report, round } from './report.ts'

const { values: options } = readOwnArgv({
  folder: {
    ...TEXT,
    default: fileURLToPath(new URL('../test/fixtures/sam-audio', import.meta.url)),
  },
  seconds: { ...TEXT, default: '10' },
  requests: { ...TEXT, default: '1,2,4,8' },
  acceleration: { ...TEXT, default: 'balanced' },
  precision: { ...TEXT, default: 'float32' },
  repetitions: { ...TEXT, default: '5' },
})
const seconds = Number(options.seconds)
const repetitions = Number(options.repetitions)
const acceleration = options.acceleration as Acceleration
const { precision } = options
if (precision !== 'float32' && precision !== 'bfloat16') {
  throw new Error(`--precision must be float32 or bfloat16, not "${precision}"`)
}
const model = await loadSamAudio(options.folder, precision)

const cases = options.requests
  .split(',')
  .map(Number)
  .map((requests) => ({ requests, together: [] as number[], inTurn: [] as number[] }))
for (let repetition = -1; repetition < repetitions; repetition += 1) {
  for (const { requests, together, inTurn } of cases) {
    const waves = Array.from({ length: requests }, (_, i) =>
      noise(seconds, model.description.sampleRate!, 1000 * (repetition + 2) + i),
    )
    const apart = waves.reduce((sum, wave) => sum + separate(model, [wave]), 0)
    const fresh = waves.map((wave) => wave.map((sample) => -sample)) // else encoded already
    const atOnce = separate(model, fresh)
    if (repetition < 0) continue // the first round warms up
    inTurn.push(apart)
    together.push(atOnce)
  }
}
for (const { requests, together, inTurn } of cases) {
  const ratios = together.map((millis, i) => inTurn[i]! / millis)
  report('milliseconds to separate whole requests at once', {
    backend: backendVersion(),
    device: deviceKind(),
    precision,
    acceleration,
    seconds,
    requests,
    parameters: model.description.parameters,
    n: together.length,
    least: round(Math.min(...together)),
    median: round(quantile(together, 0.5)),
    realTimeFactor: round(Math.min(...together) / 1000 / (requests * seconds)),
    timesOneAfterAnother: [0.25, 0.5, 0.75].map((share) => round(quantile(ratios, share))),
  })
}

/** Milliseconds to separate all of them, stepped together. */
function separate(separator: Model, waves: readonly Float32Array[]): number {
  const startedAt = performance.now()
  const lanes = waves.map((wave, i) =>
    openLane(separator, {
      chunk: { channels: [wave], sampleRate: separator.description.sampleRate! },
      prompt: 'a dog barking',
      spans: [],
      acceleration,
      seed: i,
    }),
  )
  let busy = lanes
  while (busy.length > 0) {
    separator.step(busy)
    busy = busy.filter(({ stepsDone, steps }) => stepsDone < steps)
  }
  for (const lane of lanes) closeLane(separator, lane)
  return performance.now() - startedAt
}
