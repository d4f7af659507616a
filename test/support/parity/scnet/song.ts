/** Separates whole songs, cut and joined the way each of the two references does. */
import { triangle } from '../../../../models/lanes/chunk-weights.ts'
import { tf, type Tensor } from '../../../../models/tensorflow/tensor.ts'
import { withTidy, type Comparison } from '../comparison.ts'
import { demixSong } from '../demix-song.ts'
import type { GoldenFolder } from '../golden-folder.ts'
import { joinStems } from '../join-stems.ts'
import { openScnet, type LoadedScnet } from './open.ts'

/** Compares with ZFTurbo's training repository. */
export async function compareSong(folder: GoldenFolder): Promise<Comparison[]> {
  const { network, config, overlaps } = await openScnet(folder)
  const golden = folder.golden('song.safetensors')
  const { chunkSamples: samples, sources, levelsSong } = config
  const chunks = { samples, overlaps, mirroredBeyond: Math.floor(samples / 2) }
  const separate = (song: Tensor) => demixSong(song, chunks, sources.length, network.separate)
  return withTidy(() => {
    const song = golden.tensor('song')
    return [golden.compare('stems', levelsSong ? levelled(song, 0, separate) : separate(song))]
  })
}

/** Compares with the author's repository. */
export async function compareTriangleSong(folder: GoldenFolder): Promise<Comparison[]> {
  const loaded = await openScnet(folder)
  const golden = folder.golden('song_triangle.safetensors')
  const separate = (song: Tensor) => separateByHalves(song, loaded)
  return withTidy(() => [golden.compare('stems', levelled(golden.tensor('song'), 1, separate))])
}

/**
 * Separates the song after scaling it so that its mono mix has zero mean and unit deviation.
 * @param correction 1 for an unbiased deviation
 */
function levelled(song: Tensor, correction: 0 | 1, separate: (x: Tensor) => Tensor): Tensor {
  return tf.tidy(() => {
    const mono = song.mean(0)
    const mean = mono.mean()
    const squares = mono.sub(mean).square().sum()
    const deviation = squares.div(mono.size - correction).sqrt()
    return separate(song.sub(mean).div(deviation)).mul(deviation).add(mean)
  })
}

/** Separates segments that start every half segment; the last ones are short. */
function separateByHalves(song: Tensor, { network, config }: LoadedScnet): Tensor {
  const { chunkSamples: segment, sources } = config
  const [channels, samples] = song.shape as [number, number]
  const stride = Math.floor(segment / 2)
  const starts = Array.from({ length: Math.ceil(samples / stride) }, (_, i) => i * stride)
  function* windows() {
    for (const start of starts) {
      const length = Math.min(segment, samples - start)
      const part = tf.slice(song, [0, start], [-1, length]).expandDims(0)
      const stems = network.separate(part).squeeze([0])
      yield { start, stems, weights: triangle(segment).subarray(0, length) }
    }
  }
  return tf.tidy(() => joinStems(windows(), [sources.length, channels, samples]))
}
