/** Compares one segment: every block of the network, batches, and short or silent segments. */
import type { Branches } from '../../../../models/htdemucs/network/branches.ts'
import { momentsOf, normalize } from '../../../../models/layers/norms.ts'
import { spectrumOf, wavesOf } from '../../../../models/htdemucs/spectrum.ts'
import { pad, tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { GoldenFolder } from '../golden-folder.ts'
import { firstNetwork, type LoadedNetwork } from './networks.ts'

const FULL = 'forward_full.safetensors'
export const ITEM_FILES = [
  'forward_batch.safetensors',
  'forward_short.safetensors',
  'forward_silence.safetensors',
]

/** Compares the output of every block. */
export async function compareParts(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await firstNetwork(folder)
  const golden = folder.golden(FULL)
  return withTidy(() => [
    ...compareSpectra(golden, loaded),
    ...compareEncoders(golden, loaded),
    ...compareTransformer(golden, loaded),
    ...compareDecoders(golden, loaded),
    golden.compare('stems', loaded.network.separate(golden.tensor('mix'))),
  ])
}

/** Converts [batch, channels, bins, frames] to our layout, and back. */
const ours = (x: Tensor): Tensor => tf.transpose(x, [0, 3, 2, 1])
const theirs = ours
/** Converts [batch, channels, samples] to our layout, and back. */
const oursInTime = (x: Tensor): Tensor => tf.transpose(x, [0, 2, 1]).expandDims(1)
const theirsInTime = (x: Tensor): Tensor => tf.transpose(x.squeeze([1]), [0, 2, 1])
/**
 * Converts [batch, tokens, channels] to the layout of the reference's resizing layers, [batch,
 * channels, tokens].
 */
const turned = (x: Tensor): Tensor => tf.transpose(x, [0, 2, 1])

function* compareSpectra(golden: GoldenFile, { config }: LoadedNetwork): Generator<Comparison> {
  const mixture = golden.tensor('mix')
  const spectrum = spectrumOf(mixture, config.window) // [batch, frames, bins, channels · 2]
  const [batch, frames, bins] = spectrum.shape as [number, number, number]
  const split = spectrum.reshape([batch, frames, bins, config.audioChannels, 2])
  yield golden.compare('spec', tf.transpose(split, [0, 3, 2, 1, 4]))
  yield golden.compare('ispec', wavesOf(spectrum, config.segmentSamples))
}

function* compareEncoders(golden: GoldenFile, { network, config }: LoadedNetwork) {
  const input = inputsOf(golden, config)
  const residual = network.encoders[0]!.spectrogram.residual(input.spectrogram)
  const [, frames, bins, channels] = residual.shape as [number, number, number, number]
  const byBin = tf.transpose(residual, [0, 2, 3, 1]).reshape([bins, channels, frames])
  yield golden.compare('encoder.0.dconv', byBin)
  for (const [i, { spectrogram, waveform }] of network.encode(input).entries()) {
    const bare = i === 0 ? network.encoders[0]!.spectrogram.forward(input.spectrogram) : spectrogram
    yield golden.compare(`encoder.${i}`, theirs(bare)) // the first before its bins are embedded
    yield golden.compare(`tencoder.${i}`, theirsInTime(waveform))
  }
}

function* compareTransformer(golden: GoldenFile, { network, config }: LoadedNetwork) {
  const { bottleneck } = network
  const last = network.encode(inputsOf(golden, config)).at(-1)!
  const [batch, frames, bins, channels] = last.spectrogram.shape as [number, number, number, number]
  const tokens = bottleneck.widen(last.spectrogram.reshape([batch, frames * bins, channels]))
  const tokensInTime = bottleneck.widenWaveform(last.waveform.squeeze([1]))
  if (golden.has('channel_upsampler')) {
    // The reference puts bins before frames here.
    const dim = tokens.shape[2]!
    const byBin = tf.transpose(tokens.reshape([batch, frames, bins, dim]), [0, 3, 2, 1])
    yield golden.compare('channel_upsampler', byBin.reshape([batch, dim, bins * frames]))
    yield golden.compare('channel_upsampler_t', turned(tokensInTime))
  }
  yield golden.compare('crosstransformer.norm_in', bottleneck.norm(tokens))
  yield golden.compare('crosstransformer.norm_in_t', bottleneck.normWaveform(tokensInTime))
  let state = bottleneck.begin(last)
  for (const [i, layer] of bottleneck.layers.entries()) {
    state = layer(state)
    yield golden.compare(`crosstransformer.layers.${i}`, state.spectrogram.clone())
    yield golden.compare(`crosstransformer.layers_t.${i}`, state.waveform.clone())
  }
  const dim = state.spectrogram.shape[2]!
  const image = state.spectrogram.reshape([batch, frames, bins, dim])
  yield golden.compare('crosstransformer.freq', theirs(image))
  yield golden.compare('crosstransformer.time', turned(state.waveform))
  if (!golden.has('channel_downsampler')) return
  const end = bottleneck.end(state)
  const narrow = theirs(end.spectrogram) // [batch, channels, bins, frames]
  yield golden.compare('channel_downsampler', narrow.reshape([batch, channels, bins * frames]))
  yield golden.compare('channel_downsampler_t', theirsInTime(end.waveform))
}

function* compareDecoders(golden: GoldenFile, { network, config }: LoadedNetwork) {
  const input = inputsOf(golden, config)
  const levels = network.encode(input)
  const start = network.bottleneck.cross(levels.at(-1)!)
  for (const [j, output] of network.decode(start, levels, input).entries()) {
    yield golden.compare(`decoder.${j}`, theirs(output.spectrogram))
    yield golden.compare(`tdecoder.${j}`, theirsInTime(output.waveform))
  }
}

function inputsOf(golden: GoldenFile, config: LoadedNetwork['config']): Branches {
  const mixture = golden.tensor('mix')
  return {
    spectrogram: normalized(spectrumOf(mixture, config.window)),
    waveform: normalized(oursInTime(mixture)),
  }
}

const normalized = (x: Tensor): Tensor => normalize(x, momentsOf(x))

/** Compares only the stems, of segments that are batched, alone, cut short or partly silent. */
export async function compareItems(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await firstNetwork(folder)
  return withTidy(() =>
    ITEM_FILES.flatMap((file) => {
      const golden = folder.golden(file)
      const mixture = golden.tensor('mix')
      const count = mixture.shape[0]!
      const alone = (row: number) =>
        golden.compareRow(
          'stems',
          row,
          stemsOf(tf.slice(mixture, [row, 0, 0], [1, -1, -1]), loaded),
          `row ${row} alone`,
        )
      const rows = count > 1 ? Array.from({ length: count }, (_, row) => alone(row)) : []
      return [golden.compare('stems', stemsOf(mixture, loaded)), ...rows]
    }),
  )
}

/** Separates a mixture of at most one segment, padded with zeros on the right. */
function stemsOf(mixture: Tensor, { network, config }: LoadedNetwork): Tensor {
  const samples = mixture.shape[2]!
  const filled = pad(mixture, { 2: [0, config.segmentSamples - samples] })
  return tf.slice(network.separate(filled), [0, 0, 0, 0], [-1, -1, -1, samples])
}
