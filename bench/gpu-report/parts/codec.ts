/** Times SAM-Audio's codec by length, at its published size or the tiny one of the tests. */
import { fileURLToPath } from 'node:url'
import { decodeLatents, encodeWaves, loadCodec } from '../../../models/sam-audio/codec/codec.ts'
import { hopOf, readConfig } from '../../../models/sam-audio/config.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import {
  codecShapes,
  PUBLISHED_CODEC,
  randomWeights,
} from '../../../test/support/models/random-weights.ts'
import { noise } from '../../../test/support/models/lanes.ts'
import { least, timeRuns } from '../measure.ts'
import type { Run } from '../options.ts'

const TINY = fileURLToPath(
  new URL('../../../test/fixtures/sam-audio/sam-audio-tiny/config.json', import.meta.url),
)
const RUNS = 4
/** Multiples of the requested length. */
const LENGTHS = [1, 1.3, 3]

export const codecPart: Run = async function* ({ sizes, seconds }, hasTime) {
  const isTiny = sizes.every((size) => size === 'tiny')
  const config = isTiny ? (await readConfig(TINY)).codec : PUBLISHED_CODEC
  const { encoder, decoder } = loadCodec(randomWeights(codecShapes(config)), config)
  for (const length of LENGTHS) {
    if (!hasTime()) break
    const wave = noise(Math.round(length * seconds * config.sampleRate), 1)
    const frames = Math.ceil(wave.length / hopOf(config))
    const encode = timeRuns(
      () => read(() => encodeWaves(encoder, config, [wave]).features),
      RUNS,
      hasTime,
    )
    const latents = () => tf.randomNormal([2, frames, config.codebookDim])
    const decode = timeRuns(
      () => read(() => decodeLatents(decoder, config, latents())),
      RUNS,
      hasTime,
    )
    yield {
      seconds: length * seconds,
      'first encode, ms': encode.millis[0]!,
      'encode, ms': least(encode.millis),
      'first decode, ms': decode.millis[0]!,
      'decode, ms': least(decode.millis),
      'peak MiB': decode.peakMib,
    }
  }
}

const read = (compute: () => ReturnType<typeof tf.zeros>): void =>
  tf.tidy(() => {
    compute().dataSync()
  })
