/**
 * Spleeter's comparisons with its reference, for a tiny random network and for the published one.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openSpleeterCheckpoint } from '../../../../models/spleeter/checkpoint.ts'
import {
  readSpleeterConfig,
  TWO_STEMS,
  type SpleeterConfig,
} from '../../../../models/spleeter/config.ts'
import { sharesOf } from '../../../../models/spleeter/masks.ts'
import { loadNetwork, type Network } from '../../../../models/spleeter/network/network.ts'
import { magnitudesOf, spectrumOf } from '../../../../models/spleeter/spectrum.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFile } from '../golden-file.ts'
import type { GoldenFolder, Stage } from '../golden-folder.ts'
import { dullMaskOf, dullWaveOf } from './dull.ts'

const FORWARD = 'forward.safetensors'
const ELU = 'forward_elu.safetensors'
const SONG = 'song.safetensors'
const REAL = 'real.safetensors'
const PUBLISHED = ['model/model.index', 'model/model.data-00000-of-00001']

export const SPLEETER_STAGES: Readonly<Record<string, Stage>> = {
  parts: { files: [FORWARD], run: compareParts },
  elu: { files: [ELU], run: compareElu },
  song: { files: [SONG], run: compareSong },
  published: { files: [REAL, ...PUBLISHED], run: comparePublished },
}

interface LoadedSpleeter {
  config: SpleeterConfig
  network: Network
}

type Kwargs = Readonly<Record<string, unknown>>

/**
 * @param change modifies the kwargs stored next to the checkpoint
 * @throws Error naming weights that are missing, unused or of the wrong shape
 */
export async function openTiny(
  { folder }: GoldenFolder,
  change: (kwargs: Kwargs) => Kwargs = (kwargs) => kwargs,
): Promise<LoadedSpleeter> {
  const prefix = join(folder, 'model/tiny')
  const kwargs = JSON.parse(await readFile(`${prefix}.json`, 'utf8')) as Kwargs
  return openSpleeter(`${prefix}.index`, change(kwargs))
}

function openSpleeter(index: string, kwargs: Kwargs): LoadedSpleeter {
  const config = readSpleeterConfig(kwargs)
  const weights = Weights.of(index, openSpleeterCheckpoint(index))
  const network = loadNetwork(weights, config)
  weights.assertAllRead()
  return { config, network }
}

/** Converts the reference's waves [samples, channels] to ours, [1, channels, samples], and back. */
const ours = (x: Tensor): Tensor => tf.transpose(x).expandDims(0)
const theirs = (x: Tensor): Tensor => tf.transpose(x.squeeze([0]))

async function compareParts(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openTiny(folder)
  const golden = folder.golden(FORWARD)
  return withTidy(() => {
    const mixture = ours(golden.tensor('mix'))
    return [
      ...compareSpectrum(golden, mixture, loaded),
      ...compareNets(golden, mixture, loaded),
      ...compareStems(golden, mixture, loaded),
    ]
  })
}

function* compareSpectrum(golden: GoldenFile, mixture: Tensor, { config }: LoadedSpleeter) {
  const spectrum = spectrumOf(mixture.squeeze([0]), config) // [channels, frames, bins]
  const parts = tf.stack([tf.real(spectrum), tf.imag(spectrum)], -1)
  const [frames] = golden.shape('stft') as [number]
  const cut = tf.slice(tf.transpose(parts, [1, 2, 0, 3]), [0, 0, 0, 0], [frames, -1, -1, -1])
  yield golden.compare('stft', cut)
  yield golden.compare('spectrogram', magnitudesOf(spectrum, 2, config))
}

/** Compares whichever parts of each stem's network the file has. */
function* compareNets(golden: GoldenFile, mixture: Tensor, { network, config }: LoadedSpleeter) {
  const magnitudes = magnitudesOf(spectrumOf(mixture.squeeze([0]), config), 2, config)
  for (const [i, stem] of config.stems.entries()) {
    const net = network.nets[i]!
    const encoded = net.encode(magnitudes)
    const decoded = net.decode(encoded)
    const parts = [
      ...encoded.map((x, level) => [`conv${level + 1}`, x] as const),
      ...encoded
        .slice(0, -1)
        .map((x, level) => [`act${level + 1}`, net.activate(level, x)] as const),
      ...decoded.map((x, level) => [`up${level + 1}`, x] as const),
      ['logit', net.answer(decoded.at(-1)!)] as const,
      ['output', network.outputsOf(magnitudes)[i]!] as const,
    ]
    for (const [part, x] of parts) {
      const name = `${stem}.${part}`
      if (golden.has(name)) yield golden.compare(name, x.clone())
    }
  }
}

function* compareStems(golden: GoldenFile, mixture: Tensor, loaded: LoadedSpleeter) {
  for (const [i, stem] of loaded.config.stems.entries()) {
    const [mask, wave] = [`${stem}.mask`, `${stem}.wave`]
    const share = shareOf(mixture, i, loaded)
    if (golden.has(mask)) {
      const all = dullMaskOf(share, loaded.config) // [channels, frames, bins]
      const cut = tf.slice(all, [0, 0, 0], [-1, golden.shape(mask)[0]!, -1])
      yield golden.compare(mask, tf.transpose(cut, [1, 2, 0]))
    }
    if (golden.has(wave)) yield golden.compare(wave, dullWave(mixture, i, loaded))
  }
}

const shareOf = (mixture: Tensor, stem: number, { network, config }: LoadedSpleeter): Tensor => {
  const magnitudes = magnitudesOf(spectrumOf(mixture.squeeze([0]), config), 2, config)
  return sharesOf(network.outputsOf(magnitudes))[stem]!
}

/**
 * Returns a stem [samples, channels] without anything above the network's bins, as Spleeter was
 * published.
 */
const dullWave = (mixture: Tensor, stem: number, loaded: LoadedSpleeter): Tensor =>
  theirs(dullWaveOf(mixture, shareOf(mixture, stem, loaded), loaded.config))

async function compareElu(folder: GoldenFolder): Promise<Comparison[]> {
  const params = { conv_activation: 'ELU', deconv_activation: 'ELU' }
  const loaded = await openTiny(folder, (kwargs) => {
    const model = kwargs.model as { params: object }
    return {
      ...kwargs,
      model: { type: 'unet.softmax_unet', params: { ...model.params, ...params } },
    }
  })
  const golden = folder.golden(ELU)
  return withTidy(() => {
    const mixture = ours(golden.tensor('mix'))
    return [...compareNets(golden, mixture, loaded), ...compareStems(golden, mixture, loaded)]
  })
}

async function compareSong(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openTiny(folder)
  const golden = folder.golden(SONG)
  return withTidy(() => {
    const mixture = ours(golden.tensor('mix'))
    const stems = loaded.network.separate(mixture) // [1, stems, channels, samples]
    const vocals = loaded.config.stems.indexOf('vocals')
    const whole = tf.slice(stems, [0, vocals, 0, 0], [1, 1, -1, -1]).squeeze([1])
    const dull = (stem: string) => dullWave(mixture, loaded.config.stems.indexOf(stem), loaded)
    return [
      ...loaded.config.stems.map((stem) => golden.compare(stem, dull(stem))),
      golden.compare('vocals_average', theirs(whole)),
      { ...sumComparison(stems, mixture), file: SONG },
    ]
  })
}

/** Returns the largest sample left when the mixture is subtracted from the sum of all stems. */
function sumComparison(stems: Tensor, mixture: Tensor): Comparison {
  const left = stems.sum(1).sub(mixture).abs().max()
  const [error = Infinity] = left.dataSync<'float32'>()
  return { file: '', name: 'mix', against: 'the sum of the stems', error, allowed: 1e-6 }
}

/**
 * Start and number of the rows stored in `real.safetensors` of parts that are too large as a whole.
 */
const CUTS: Readonly<Record<string, readonly [start: number, count: number]>> = {
  spectrogram: [4, 4],
  conv1: [2, 1],
  conv3: [0, 2],
  conv6: [0, 1],
  up1: [0, 1],
  up4: [2, 2],
  up6: [4, 8],
  mask: [6, 4],
}

/** Compares the published weights, which must be in `model/`. */
async function comparePublished(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = openSpleeter(join(folder.folder, PUBLISHED[0]!), TWO_STEMS)
  const golden = folder.golden(REAL)
  return withTidy(() => {
    const mixture = ours(golden.tensor('mix'))
    const { network, config } = loaded
    const magnitudes = magnitudesOf(spectrumOf(mixture.squeeze([0]), config), 2, config)
    const comparisons = [golden.compare('spectrogram', cut('spectrogram', magnitudes))]
    for (const [i, stem] of config.stems.entries()) {
      const encoded = network.nets[i]!.encode(magnitudes)
      const parts = [
        ...encoded.map((x, level) => [`conv${level + 1}`, x] as const),
        ...network.nets[i]!.decode(encoded).map((x, level) => [`up${level + 1}`, x] as const),
        ['mask', sharesOf(network.outputsOf(magnitudes))[i]!] as const,
      ]
      for (const [part, x] of parts) {
        const name = `${stem}.${part}`
        if (!golden.has(name)) continue
        const rows = cut(part, x)
        comparisons.push(golden.compare(name, part === 'mask' ? rows.squeeze([0]) : rows))
      }
      comparisons.push(golden.compare(`${stem}.wave`, dullWave(mixture, i, loaded)))
    }
    return comparisons
  })
}

function cut(part: string, x: Tensor): Tensor {
  const [start, count] = CUTS[part]!
  return tf.slice(x, [0, start, 0, 0], [-1, count, -1, -1])
}
