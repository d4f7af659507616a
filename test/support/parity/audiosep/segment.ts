/** Compares one segment: every block of the network, and waves of several lengths. */
import { spectrumOf, wavesOf } from '../../../../models/audiosep/spectrum.ts'
import { poolAfter } from '../../../../models/audiosep/network/network.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { GoldenFolder } from '../golden-folder.ts'
import { openCheckpoint, type LoadedCheckpoint } from './checkpoint.ts'

export const WAVE_FILES = [0, 1, 2, 3].map((i) => `forward_${i}.safetensors`)

/** Phases of bins quieter than this are not compared, because the reference leaves them at zero. */
const MAGNITUDE_MIN = 1e-3

/** Converts our layout, which has the channels last, to [batch, channels, frames, bins]. */
const theirs = (x: Tensor): Tensor => tf.transpose(x, [0, 3, 1, 2])

export async function compareParts(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openCheckpoint(folder)
  const golden = folder.golden(WAVE_FILES[0]!)
  return withTidy(() => [...compareSpectrum(golden, loaded), ...compareBlocks(golden, loaded)])
}

function* compareSpectrum(golden: GoldenFile, { config }: LoadedCheckpoint): Generator<Comparison> {
  const { real, imaginary, magnitude } = spectrumOf(golden.tensor('mixture').squeeze([1]), config)
  const isLoud = magnitude.greater(MAGNITUDE_MIN)
  const phase = (part: Tensor) => tf.where(isLoud, part.div(magnitude), tf.zerosLike(part))
  yield golden.compare('mag', magnitude.expandDims(1))
  yield golden.compare('cos', phase(real).expandDims(1))
  yield golden.compare('sin', phase(imaginary).expandDims(1))
}

function* compareBlocks(golden: GoldenFile, { network, config }: LoadedCheckpoint) {
  const condition = golden.tensor('condition')
  const { magnitude } = spectrumOf(golden.tensor('mixture').squeeze([1]), config)
  const start = network.begin(magnitude)
  yield golden.compare('base.pre_conv', theirs(start))
  const skips = network.encode(start, condition)
  yield golden.compare('base.encoder_block1.skip', theirs(skips[0]!))
  for (const i of [1, 2, 5, 6]) {
    yield golden.compare(`base.encoder_block${i}.pool`, theirs(poolAfter(i - 1, skips[i - 1]!)))
  }
  const bottom = network.bottom(skips, condition)
  yield golden.compare('base.conv_block7a.pool', theirs(bottom))
  const decoded = network.decode(bottom, skips, condition)
  for (const j of [1, 3, 6]) {
    yield golden.compare(`base.decoder_block${j}`, theirs(decoded[j - 1]!))
  }
  yield golden.compare('base.after_conv', theirs(network.after(decoded.at(-1)!)))
}

/** Compares waves in a batch, alone, and padded to another's length. */
export async function compareWaves(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openCheckpoint(folder)
  return withTidy(() => {
    const forwards = WAVE_FILES.flatMap((file) => {
      const golden = folder.golden(file)
      const waves = golden.tensor('mixture').squeeze([1]) // [batch, samples]
      const condition = golden.tensor('condition')
      const count = waves.shape[0]!
      const rowOf = (x: Tensor, row: number) => tf.slice(x, [row, 0], [1, -1])
      const alone = (row: number) => {
        const target = separate(rowOf(waves, row), rowOf(condition, row), loaded)
        return golden.compareRow('waveform', row, target.expandDims(1), `row ${row} alone`)
      }
      const rows = count > 1 ? Array.from({ length: count }, (_, row) => alone(row)) : []
      const answer = loaded.network.forward(spectrumOf(waves, loaded.config).magnitude, condition)
      return [
        golden.compare('base.after_conv', theirs(answer)),
        golden.compare('waveform', separate(waves, condition, loaded).expandDims(1)),
        ...rows,
      ]
    })
    const golden = folder.golden('chunked.safetensors')
    const whole = separate(golden.tensor('mixture'), golden.tensor('condition'), loaded)
    return [...forwards, golden.compare('target_whole', whole)]
  })
}

/**
 * Separates waves [batch, samples] with condition [batch, conditionDim] into targets of the same
 * shape as the waves.
 */
function separate(waves: Tensor, condition: Tensor, { network, config }: LoadedCheckpoint): Tensor {
  return tf.tidy(() => {
    const spectrum = spectrumOf(waves, config)
    const answer = network.forward(spectrum.magnitude, condition)
    return wavesOf(spectrum, answer, waves.shape[1]!, config)
  })
}
