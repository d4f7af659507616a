/**
 * Separates whole songs, cut and joined like the reference does in apply_model, but without its
 * shift.
 */
import { triangle } from '../../../../models/lanes/chunk-weights.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import type { GoldenFolder } from '../golden-folder.ts'
import { joinStems } from '../join-stems.ts'
import { bagOf, firstNetwork, openNetwork, type LoadedNetwork } from './networks.ts'

const SONG = 'song.safetensors'
const OVERLAP = 0.25

export async function compareSong(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await firstNetwork(folder)
  const golden = folder.golden(SONG)
  return withTidy(() => {
    const song = golden.tensor('song')
    return [
      golden.compare(
        'stems',
        levelled(song, (x) => separateSong(x, loaded, OVERLAP)),
      ),
      golden.compare('stems_without_global_normalisation', separateSong(song, loaded, OVERLAP)),
      golden.compare(
        'stems_overlap_10',
        levelled(song, (x) => separateSong(x, loaded, 0.1)),
      ),
    ]
  })
}

/** Separates with a bag, in which each stem is the weighted mean of its networks' results. */
export async function compareBag(folder: GoldenFolder): Promise<Comparison[]> {
  const { members } = await bagOf(folder)
  return withTidy(() => {
    const song = folder.golden(SONG).tensor('song')
    const weighted = members.map(({ checkpoint, weights }) => {
      const loaded = openNetwork(checkpoint)
      const ofStems = tf.tensor(weights, [weights.length, 1, 1])
      return levelled(song, (x) => separateSong(x, loaded, OVERLAP)).mul(ofStems)
    })
    const totals = members[0]!.weights.map((_, stem) =>
      members.reduce((sum, { weights }) => sum + weights[stem]!, 0),
    )
    const stems = tf.addN(weighted).div(tf.tensor(totals, [totals.length, 1, 1]))
    return [folder.golden('bag.safetensors').compare('stems', stems)]
  })
}

/** Separates the song after scaling it so that its mono mix has zero mean and unit deviation. */
function levelled(song: Tensor, separate: (x: Tensor) => Tensor): Tensor {
  return tf.tidy(() => {
    const mono = song.mean(0)
    const mean = mono.mean()
    const deviation = mono
      .sub(mean)
      .square()
      .sum()
      .div(mono.size - 1)
      .sqrt()
      .add(1e-8)
    return separate(song.sub(mean).div(deviation)).mul(deviation).add(mean)
  })
}

/** Separates a song [channels, samples] into stems [stems, channels, samples]. */
function separateSong(song: Tensor, { network, config }: LoadedNetwork, overlap: number): Tensor {
  const { segmentSamples: segment } = config
  const samples = song.shape[1]!
  const stride = Math.floor((1 - overlap) * segment)
  const starts = Array.from({ length: Math.ceil(samples / stride) }, (_, i) => i * stride)
  function* windows() {
    for (const start of starts) {
      const length = Math.min(segment, samples - start)
      const before = Math.floor((segment - length) / 2) // a shorter rest is centered
      const stems = network.separate(around(song, start - before, segment).expandDims(0))
      yield {
        start,
        stems: tf.slice(stems, [0, 0, 0, before], [1, -1, -1, length]).squeeze([0]),
        weights: triangle(segment).subarray(0, length),
      }
    }
  }
  const { sources, audioChannels } = config
  return tf.tidy(() => joinStems(windows(), [sources.length, audioChannels, samples]))
}

/**
 * Takes samples from `start`, which may lie before the song, and pads with zeros beyond either end.
 */
function around(song: Tensor, start: number, samples: number): Tensor {
  const from = Math.max(0, start)
  const to = Math.min(song.shape[1]!, start + samples)
  return padLast(tf.slice(song, [0, from], [-1, to - from]), from - start, start + samples - to)
}

const padLast = (x: Tensor, before: number, after: number): Tensor =>
  tf.pad(x, [...x.shape.slice(1).map((): [number, number] => [0, 0]), [before, after]])
