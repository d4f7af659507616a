/**
 * Makes the networks of the open models at their published sizes with random weights, in memory.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isUsedTensor } from '../../models/audiosep/checkpoint.ts'
import { readAudioSepConfig } from '../../models/audiosep/config.ts'
import { loadNetwork as loadAudioSep } from '../../models/audiosep/network/network.ts'
import { spectrumOf, wavesOf } from '../../models/audiosep/spectrum.ts'
import { readHTDemucsConfig } from '../../models/htdemucs/config.ts'
import { loadNetwork as loadHTDemucs } from '../../models/htdemucs/network/network.ts'
import { readRoformerConfig } from '../../models/roformer/config.ts'
import { loadNetwork as loadRoformer } from '../../models/roformer/network/network.ts'
import type { Precision } from '../../models/tensorflow/precision.ts'
import { tf, type Tensor } from '../../models/tensorflow/tensor.ts'
import { randomWeights, type Shapes } from '../../test/support/models/random-weights.ts'

const FIXTURES = fileURLToPath(new URL('../../test/fixtures', import.meta.url))

const AUDIOSEP_RATE = 32_000
const AUDIOSEP_SECONDS = 10
/** The chunk size of Kim's configuration, 8 s. */
const ROFORMER_SAMPLES = 352_800

export interface Separator {
  /** Seconds of sound in one item of a batch. */
  seconds: number
  /** Random inputs for a batch of that size. */
  inputs: (batch: number) => Tensor[]
  separate: (...inputs: Tensor[]) => Tensor
}

/** Reads the names and shapes of a published checkpoint's tensors. */
function readInventory(
  model: string,
  name = model,
): { kwargs: Record<string, unknown>; shapes: Shapes } {
  const text = readFileSync(join(FIXTURES, model, `${name}.inventory.json`), 'utf8')
  const { kwargs, keys } = JSON.parse(text)
  return { kwargs, shapes: Object.fromEntries(keys) }
}

/** By the name of the model. */
export const RANDOM_SEPARATORS: Readonly<Record<string, (precision: Precision) => Separator>> = {
  htdemucs: (precision) => {
    const { kwargs, shapes } = readInventory('htdemucs')
    const config = readHTDemucsConfig(kwargs)
    const { separate } = loadHTDemucs(randomWeights(shapes).in(precision), config)
    const { audioChannels, sampleRate, segmentSamples } = config
    return {
      seconds: segmentSamples / sampleRate,
      inputs: (batch) => [tf.randomNormal([batch, audioChannels, segmentSamples], 0, 0.1)],
      separate: (mixture) => separate(mixture!),
    }
  },
  audiosep: (precision) => {
    const used = Object.entries(readInventory('audiosep').shapes).filter(([name]) =>
      isUsedTensor(name),
    )
    const weights = randomWeights(Object.fromEntries(used)).in(precision)
    const config = readAudioSepConfig(weights, { sampleRate: AUDIOSEP_RATE })
    const network = loadAudioSep(weights.at('ss_model'), config)
    const samples = AUDIOSEP_RATE * AUDIOSEP_SECONDS
    return {
      seconds: AUDIOSEP_SECONDS,
      inputs: (batch) => [
        tf.randomNormal([batch, samples], 0, 0.1),
        tf.randomNormal([batch, config.conditionDim]),
      ],
      separate: (waves, condition) =>
        tf.tidy(() => {
          const spectrum = spectrumOf(waves!, config)
          const output = network.forward(spectrum.magnitude, condition!)
          return wavesOf(spectrum, output, samples, config)
        }),
    }
  },
  roformer: (precision) => {
    const { kwargs, shapes } = readInventory('roformer', 'mel-band-roformer-kim')
    const config = readRoformerConfig({
      model: kwargs,
      audio: { chunk_size: ROFORMER_SAMPLES },
      training: { target_instrument: 'vocals' },
    })
    const { separate } = loadRoformer(randomWeights(shapes).in(precision), config)
    const { audioChannels, sampleRate } = config
    return {
      seconds: ROFORMER_SAMPLES / sampleRate,
      inputs: (batch) => [tf.randomNormal([batch, audioChannels, ROFORMER_SAMPLES], 0, 0.1)],
      separate: (mixture) => separate(mixture!),
    }
  },
}
