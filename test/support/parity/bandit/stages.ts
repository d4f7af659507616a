/** Comparisons of Bandit with its reference. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBanditCheckpoint } from '../../../../models/bandit/checkpoint.ts'
import { readBanditConfig } from '../../../../models/bandit/config.ts'
import { loadNetwork, spectrumOf } from '../../../../models/bandit/network/network.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { compareExactly, type Comparison } from '../comparison.ts'
import type { GoldenFolder } from '../golden-folder.ts'
import { withTidy } from '../tidied.ts'
import type { OpenStage } from '../open-stage.ts'
import { separateSong, type LoadedBandit } from './song.ts'

export const BANDIT_STAGES: Readonly<Record<string, OpenStage>> = {
  bands: { files: [], run: compareBands },
  parts: { files: ['forward.safetensors'], run: compareParts },
  batch: { files: ['forward_batch.safetensors'], run: compareBatch },
  'odd-length': { files: ['forward_odd.safetensors'], run: compareOddLength },
  song: { files: ['song.safetensors'], run: compareSong },
}

interface ReferenceConfig {
  kwargs: { fs: number }
  /** First bin of each band, and one past its last. */
  band_specs: readonly (readonly [number, number])[]
}

const readReferenceConfig = async ({ folder }: GoldenFolder): Promise<ReferenceConfig> =>
  JSON.parse(await readFile(join(folder, 'model/config.json'), 'utf8'))

/** @throws Error naming weights that are missing, misshapen or unread */
export async function openBandit(folder: GoldenFolder): Promise<LoadedBandit> {
  const file = join(folder.folder, 'model/tiny.ckpt')
  const { tensors, stems, window } = openBanditCheckpoint(file)
  const { kwargs } = await readReferenceConfig(folder)
  const weights = Weights.of(file, tensors)
  const config = readBanditConfig(weights, { sampleRate: kwargs.fs, window, stems })
  const network = loadNetwork(weights, config)
  weights.assertAllRead()
  return { config, network }
}

async function compareBands(folder: GoldenFolder): Promise<Comparison[]> {
  const { config } = await openBandit(folder)
  const { band_specs: expected } = await readReferenceConfig(folder)
  const actual = config.bands.flatMap(({ start, bins }) => [start, start + bins])
  return [compareExactly('model/config.json', 'band_specs', actual, expected.flat())]
}

async function compareParts(folder: GoldenFolder): Promise<Comparison[]> {
  const { network, config } = await openBandit(folder)
  const golden = folder.golden('forward.safetensors')
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    const spectrum = spectrumOf(mixture, config)
    const start = network.split(spectrum)
    const [first] = network.layers
    const normed = first!.norm(start)
    const rows = normed.reshape([-1, ...normed.shape.slice(2)])
    const outputs = Array.from(network.transform(start), (x) => x.clone())
    const end = outputs.at(-1)!
    return [
      golden.compare('stft', byBin(spectrum)),
      golden.compare('band_split', start.clone()),
      golden.compare('tf_model.seqband.0.norm', normed.clone()),
      golden.compare('tf_model.seqband.0.rnn', first!.gru(rows)),
      ...outputs.map((x, i) =>
        golden.compare(`tf_model.seqband.${2 * i}`, tf.transpose(x, [0, 2, 1, 3])),
      ),
      golden.compare('tf_model', end.clone()),
      ...network.estimators.map((estimator, i) =>
        golden.compare(`mask_estim.${config.stems[i]}`, byBin(estimator(end))),
      ),
      golden.compare('stems', network.separate(mixture)),
    ]
  })
}

/** [batch, frames, bins · 2] as the reference has it: [batch, 1, bins, frames, 2]. */
function byBin(x: Tensor): Tensor {
  const [batch, frames] = x.shape as [number, number, number]
  return tf.transpose(x.reshape([batch, frames, -1, 2]), [0, 2, 1, 3]).expandDims(1)
}

async function compareBatch(folder: GoldenFolder): Promise<Comparison[]> {
  const { network } = await openBandit(folder)
  const golden = folder.golden('forward_batch.safetensors')
  return withTidy(() => {
    const mixture = golden.tensor('mix')
    const alone = Array.from({ length: mixture.shape[0]! }, (_, row) => {
      const stems = network.separate(tf.slice(mixture, [row, 0, 0], [1, -1, -1]))
      return golden.compareRow('stems', row, stems, `row ${row} alone`)
    })
    return [golden.compare('stems', network.separate(mixture)), ...alone]
  })
}

async function compareOddLength(folder: GoldenFolder): Promise<Comparison[]> {
  const { network } = await openBandit(folder)
  const golden = folder.golden('forward_odd.safetensors')
  return withTidy(() => [golden.compare('stems', network.separate(golden.tensor('mix')))])
}

async function compareSong(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openBandit(folder)
  const golden = folder.golden('song.safetensors')
  return withTidy(() => [golden.compare('stems', separateSong(golden.tensor('song'), loaded))])
}
