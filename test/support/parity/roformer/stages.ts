/** RoFormer's comparisons with its reference, for both kinds of bands. */
import { join } from 'node:path'
import { readYaml } from '../../../../engine/installing/read-yaml.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { openRoformerCheckpoint } from '../../../../models/roformer/checkpoint.ts'
import { readRoformerConfig, type RoformerConfig } from '../../../../models/roformer/config.ts'
import {
  loadNetwork,
  spectrumOf,
  type Network,
} from '../../../../models/roformer/network/network.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { compareExactly, withTidy, type Comparison } from '../comparison.ts'
import { demixSong } from '../demix-song.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { GoldenFolder, Stage } from '../golden-folder.ts'

type Kind = RoformerConfig['kind']

interface LoadedRoformer {
  config: RoformerConfig
  network: Network
}

const stagesOf = (kind: Kind): Record<string, Stage> => ({
  [`${kind}-parts`]: {
    files: [`${kind}_forward.safetensors`],
    run: (folder) => compareParts(folder, kind),
  },
  [`${kind}-batch`]: {
    files: [`${kind}_batch.safetensors`],
    run: (folder) => compareBatch(folder, kind),
  },
  [`${kind}-song`]: {
    files: [`${kind}_song.safetensors`],
    run: (folder) => compareSong(folder, kind),
  },
})

export const ROFORMER_STAGES: Readonly<Record<string, Stage>> = {
  ...stagesOf('bs'),
  bands: { files: ['mel_bands.safetensors'], run: compareBands },
  ...stagesOf('mel'),
}

/** @throws Error naming weights that are missing, unused or of the wrong shape */
export async function openRoformer({ folder }: GoldenFolder, kind: Kind): Promise<LoadedRoformer> {
  const name = join(folder, `model-${kind}`, `${kind}_tiny`)
  const config = readRoformerConfig(await readYaml(`${name}.yaml`))
  const weights = Weights.of(`${name}.ckpt`, openRoformerCheckpoint(`${name}.ckpt`))
  const network = loadNetwork(weights, config)
  weights.assertAllRead()
  return { config, network }
}

async function compareParts(folder: GoldenFolder, kind: Kind): Promise<Comparison[]> {
  const { network, config } = await openRoformer(folder, kind)
  const golden = folder.golden(`${kind}_forward.safetensors`)
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    const spectrum = spectrumOf(mixture, config)
    const start = network.split(spectrum)
    const first = network.transform(start)
    const end = network.end(first.at(-1)!.bands, 1)
    return [
      golden.compare('stft', byChannel(spectrum, config)),
      golden.compare('band_split', start.clone()),
      ...compareFirstLayer(golden, network, start),
      ...first.flatMap(({ time, bands }, i) => [
        golden.compare(`layers.${i}.0`, time),
        golden.compare(`layers.${i}.1`, bands.clone()),
      ]),
      ...(golden.has('final_norm') ? [golden.compare('final_norm', end.clone())] : []),
      ...network.estimators.map((estimator, i) =>
        golden.compare(`mask_estimators.${i}`, estimator(end)),
      ),
      golden.compare('stems', stemsAs(golden, network.separate(mixture))),
    ]
  })
}

/** Converts a spectrum to the reference's layout, [channels, bins, frames, 2]. */
function byChannel(spectrum: Tensor, { audioChannels, window }: RoformerConfig): Tensor {
  const [, frames] = spectrum.shape as [number, number, number]
  const split = spectrum.reshape([frames, window / 2 + 1, audioChannels, 2])
  return tf.transpose(split, [2, 1, 0, 3])
}

function compareFirstLayer(golden: GoldenFile, network: Network, start: Tensor): Comparison[] {
  const [, frames, bands, dim] = start.shape as [number, number, number, number]
  const x = tf.transpose(start, [0, 2, 1, 3]).reshape([bands, frames, dim])
  const { attention, feedForward } = network.layers[0]!.time.layers[0]!
  const attended = attention.forward(x)
  return [
    golden.compare('layers.0.0.layers.0.0.norm', attention.norm(x)),
    golden.compare('layers.0.0.layers.0.1', feedForward(x.add(attended))),
    golden.compare('layers.0.0.layers.0.0', attended),
  ]
}

/** Drops the axis of stems if the reference has none, as for a single stem. */
const stemsAs = (golden: GoldenFile, stems: Tensor): Tensor =>
  golden.shape('stems').length === 3 ? stems.squeeze([1]) : stems

async function compareBatch(folder: GoldenFolder, kind: Kind): Promise<Comparison[]> {
  const { network } = await openRoformer(folder, kind)
  const golden = folder.golden(`${kind}_batch.safetensors`)
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    const alone = Array.from({ length: mixture.shape[0]! }, (_, row) => {
      const stems = network.separate(tf.slice(mixture, [row, 0, 0], [1, -1, -1]))
      return golden.compareRow('stems', row, stemsAs(golden, stems), `row ${row} alone`)
    })
    return [golden.compare('stems', stemsAs(golden, network.separate(mixture))), ...alone]
  })
}

async function compareSong(folder: GoldenFolder, kind: Kind): Promise<Comparison[]> {
  const { network, config } = await openRoformer(folder, kind)
  const golden = folder.golden(`${kind}_song.safetensors`)
  const { chunkSamples: samples, overlaps, stems } = config
  const chunks = { samples, overlaps, mirroredBeyond: Math.floor(samples / 2) + 1 }
  return withTidy(() => [
    golden.compare(
      'stems',
      demixSong(golden.tensor('song'), chunks, stems.length, network.separate),
    ),
  ])
}

async function compareBands(folder: GoldenFolder): Promise<Comparison[]> {
  const { config } = await openRoformer(folder, 'mel')
  const golden = folder.golden('mel_bands.safetensors')
  const bins = config.window / 2 + 1
  const isIn = config.bands.map(({ start, bins: width }) =>
    Array.from({ length: bins }, (_, bin) => Number(bin >= start && bin < start + width)),
  )
  const file = 'mel_bands.safetensors'
  const exactly = (name: string, actual: readonly number[]) =>
    compareExactly(file, name, actual, Array.from(golden.values(name)))
  return [
    exactly('freqs_per_band', isIn.flat()),
    exactly(
      'num_freqs_per_band',
      isIn.map((band) => band.reduce((sum, x) => sum + x, 0)),
    ),
    exactly(
      'num_bands_per_freq',
      Array.from({ length: bins }, (_, bin) => isIn.reduce((sum, band) => sum + band[bin]!, 0)),
    ),
  ]
}
