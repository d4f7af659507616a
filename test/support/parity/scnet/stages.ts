/** SCNet's comparisons with its references. */
import { spectrumOf } from '../../../../models/scnet/spectrum.ts'
import { toFrames, toFrequencies } from '../../../../models/scnet/network/dual-path.ts'
import { momentsOf, normalize } from '../../../../models/layers/norms.ts'
import { tf, transpose, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { GoldenFolder, Stage } from '../golden-folder.ts'
import { openScnet, type LoadedScnet } from './open.ts'
import { compareSong, compareTriangleSong } from './song.ts'

export const SCNET_STAGES: Readonly<Record<string, Stage>> = {
  parts: { files: ['forward.safetensors'], run: compareParts },
  levelled: { files: ['forward_normalized.safetensors'], run: compareLevelled },
  batch: { files: ['forward_batch.safetensors'], run: compareBatch },
  'odd-length': { files: ['forward_odd.safetensors'], run: compareOddLength },
  song: { files: ['song.safetensors'], run: compareSong },
  'song-triangle': { files: ['song_triangle.safetensors'], run: compareTriangleSong },
}

/**
 * Converts [batch, bins, frames, channels] to the reference's layout, with channels before bins.
 */
const theirs = (x: Tensor): Tensor => transpose(x, [0, 3, 1, 2])

/** Makes each bin a row of its own, as the residual layers of the reference take them. */
function byBin(x: Tensor): Tensor {
  const [batch, bins, frames, channels] = x.shape as [number, number, number, number]
  return tf.tidy(() => transpose(x, [0, 1, 3, 2]).reshape([batch * bins, channels, frames]))
}

async function compareParts(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openScnet(folder)
  const golden = folder.golden('forward.safetensors')
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    const spectrum = inputOf(mixture, loaded)
    const skips: Tensor[] = []
    return [
      golden.compare('spec', theirs(spectrum)),
      ...compareBands(golden, loaded, spectrum),
      ...compareEncoders(golden, loaded, spectrum, skips),
      ...compareFirstPair(golden, loaded, spectrum),
      ...comparePairs(golden, loaded, spectrum),
      ...compareDecoders(golden, loaded, spectrum, skips),
      golden.compare('stems', loaded.network.separate(mixture)),
    ]
  })
}

/** Returns the input of the first encoder. */
function inputOf(mixture: Tensor, { config }: LoadedScnet): Tensor {
  const spectrum = spectrumOf(mixture, config)
  return config.levelsSpectrum ? normalize(spectrum, momentsOf(spectrum)) : spectrum
}

function* compareBands(
  golden: GoldenFile,
  { network }: LoadedScnet,
  spectrum: Tensor,
): Generator<Comparison> {
  const [first] = network.encoders
  for (const [i, part] of first!.downsample(spectrum).entries()) {
    const { layers, forward } = first!.bands[i]!.residual
    const name = `encoder.0.conv_modules.${i}`
    yield golden.compare(`encoder.0.SDlayer.${i}`, theirs(part))
    if (golden.has(`${name}.layers.0`)) {
      yield golden.compare(`${name}.layers.0`, byBin(tf.sub(layers[0]!(part), part)))
    }
    yield golden.compare(name, byBin(forward(part)))
  }
}

function* compareEncoders(
  golden: GoldenFile,
  { network }: LoadedScnet,
  spectrum: Tensor,
  skips: Tensor[],
): Generator<Comparison> {
  let x = spectrum
  for (const [i, encoder] of network.encoders.entries()) {
    const { output, skip } = encoder.forward(x)
    yield golden.compare(`encoder.${i}.skip`, theirs(skip))
    yield golden.compare(`encoder.${i}`, theirs(output))
    skips.push(skip)
    x = output
  }
}

function* compareFirstPair(golden: GoldenFile, { network }: LoadedScnet, spectrum: Tensor) {
  const name = 'separation_net.dp_modules.0'
  const { output } = network.encode(spectrum)
  const [alongBins, alongFrames] = network.dualPaths[0]!.paths
  const between = alongBins!.forward(output)
  const rows = (x: Tensor) => transpose(x, [1, 0, 2])
  yield golden.compare(`${name}.lstm_layers.0`, rows(alongBins!.recur(output)))
  yield golden.compare(`${name}.frequency`, theirs(between))
  yield golden.compare(`${name}.lstm_layers.1`, rows(alongFrames!.recur(between)))
}

function* comparePairs(golden: GoldenFile, { network }: LoadedScnet, spectrum: Tensor) {
  let x = network.encode(spectrum).output
  for (const [i, dualPath] of network.dualPaths.entries()) {
    const output = dualPath.forward(x)
    x = i % 2 === 0 ? toFrequencies(output) : toFrames(output)
    yield golden.compare(`separation_net.dp_modules.${i}`, theirs(output))
    yield golden.compare(`separation_net.feature_conversion.${i}`, theirs(x))
  }
}

function* compareDecoders(
  golden: GoldenFile,
  { network }: LoadedScnet,
  spectrum: Tensor,
  skips: readonly Tensor[],
): Generator<Comparison> {
  let x = network.encode(spectrum).output
  for (const transformed of network.transform(x)) x = transformed.clone()
  for (const [j, decoder] of network.decoders.entries()) {
    const joined = decoder.join(x, skips.at(-1 - j)!)
    yield golden.compare(`decoder.${j}.0`, theirs(joined))
    x = decoder.upsample(joined)
    yield golden.compare(`decoder.${j}.1`, theirs(x))
  }
}

async function compareLevelled(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openScnet(folder, true)
  const golden = folder.golden('forward_normalized.safetensors')
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    const spectrum = inputOf(mixture, loaded)
    const [first, second] = loaded.network.encoders
    const { output } = second!.forward(first!.forward(spectrum).output)
    return [
      golden.compare('spec', theirs(spectrum)),
      golden.compare('encoder.1', theirs(output)),
      golden.compare('stems', loaded.network.separate(mixture)),
    ]
  })
}

/** Compares with and without normalized spectrum levels, in a batch and alone. */
async function compareBatch(folder: GoldenFolder): Promise<Comparison[]> {
  const golden = folder.golden('forward_batch.safetensors')
  const variants = [
    { name: 'stems', loaded: await openScnet(folder, false) },
    { name: 'stems_normalized', loaded: await openScnet(folder, true) },
  ]
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    return variants.flatMap(({ name, loaded: { network } }) => [
      golden.compare(name, network.separate(mixture)),
      ...Array.from({ length: mixture.shape[0]! }, (_, row) => {
        const stems = network.separate(tf.slice(mixture, [row, 0, 0], [1, -1, -1]))
        return golden.compareRow(name, row, stems, `row ${row} alone`)
      }),
    ])
  })
}

async function compareOddLength(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openScnet(folder)
  const golden = folder.golden('forward_odd.safetensors')
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    return [
      golden.compare('spec', theirs(inputOf(mixture, loaded))),
      golden.compare('stems', loaded.network.separate(mixture)),
    ]
  })
}
