/**
 * How fast does SAM-Audio's codec encode a chunk, and decode its two streams? Random weights at the
 * sizes of the published checkpoints; both are interleaved, so that other load affects them alike.
 *
 * npm run bench -- codec --seconds 1,5 --repetitions 5
 */
import { readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import { decodeLatents, encodeWaves, loadCodec } from '../models/sam-audio/codec/codec.ts'
import { hopOf } from '../models/sam-audio/config.ts'
import { backendVersion, deviceKind, tf, type Tensor } from '../models/tensorflow/tensor.ts'
import {
  codecShapes,
  PUBLISHED_CODEC as CONFIG,
  randomWeights,
} from '../test/support/models/random-weights.ts'
import { quantile, report, round } from './report.ts'

const STREAMS = 2
/** Cost of a second: counted from the products of matrices, two operations to a multiplication. */
const GIGAFLOP = { encode: 48.6, decode: STREAMS * 109.7 }

const { values: options } = readOwnArgv({
  seconds: { ...TEXT, default: '1,5' },
  repetitions: { ...TEXT, default: '5' },
})
const repetitions = Number(options.repetitions)
const { encoder, decoder } = loadCodec(randomWeights(codecShapes(CONFIG)), CONFIG)

const cases = options.seconds
  .split(',')
  .map(Number)
  .flatMap(
    (seconds) =>
      [
        { part: 'encode', seconds, run: () => encode(seconds), taken: [] as number[] },
        { part: 'decode', seconds, run: () => decode(seconds), taken: [] as number[] },
      ] as const,
  )
for (let repetition = -1; repetition < repetitions; repetition += 1) {
  for (const { run, taken } of cases) {
    const startedAt = performance.now()
    const answer = run()
    answer.dataSync()
    answer.dispose()
    if (repetition >= 0) taken.push(performance.now() - startedAt) // the first round warms up
  }
}
for (const { part, seconds, taken } of cases) {
  const gigaflop = GIGAFLOP[part] * seconds
  report('milliseconds to encode a chunk or decode its two streams', {
    backend: backendVersion(),
    device: deviceKind(),
    precision: 'float32',
    part,
    seconds,
    n: taken.length,
    least: round(Math.min(...taken)),
    median: round(quantile(taken, 0.5)),
    gigaflop: round(gigaflop),
    gigaflopPerSecond: round(gigaflop / (Math.min(...taken) / 1000)),
  })
}

function encode(seconds: number): Tensor {
  const wave = Float32Array.from(
    { length: seconds * CONFIG.sampleRate },
    () => 0.2 * (Math.random() - 0.5),
  )
  return encodeWaves(encoder, CONFIG, [wave]).features
}

function decode(seconds: number): Tensor {
  const frames = Math.ceil((seconds * CONFIG.sampleRate) / hopOf(CONFIG))
  return tf.tidy(() =>
    decodeLatents(decoder, CONFIG, tf.randomNormal([STREAMS, frames, CONFIG.codebookDim])),
  )
}
