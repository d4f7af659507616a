/** The bands of a spectrum, and the way back from bands to bins. */
import type { Layer } from './layers.ts'
import { pad, tf, type Tensor } from '../tensorflow/tensor.ts'

/** Adjacent bins; bands may overlap. */
export interface Band {
  start: number
  bins: number
}

/**
 * Averages the masks of all bands that contain a bin. Takes the masks one after the other, [batch,
 * frames, all bins of bands · perBin]; returns [batch, frames, bins · perBin].
 * @param perBin how many adjacent values belong to one bin
 */
export function bandJoin(
  { bands, window }: { bands: readonly Band[]; window: number },
  perBin: number,
): Layer {
  const total = window / 2 + 1
  const counts = new Float32Array(total)
  for (const { start, bins } of bands) {
    for (let bin = start; bin < start + bins; bin += 1) counts[bin]! += 1
  }
  const shares = tf.tensor1d(Array.from(counts, (count) => 1 / Math.max(1, count)))
  return (masks) =>
    tf.tidy(() => {
      let from = 0
      const placed = bands.map(({ start, bins }) => {
        const mask = tf.slice(masks, [0, 0, from * perBin], [-1, -1, bins * perBin])
        from += bins
        return pad(mask, [
          [0, 0],
          [0, 0],
          [start * perBin, (total - start - bins) * perBin],
        ])
      })
      const sum = tf.addN(placed)
      const [batch, frames] = sum.shape as [number, number, number]
      const byBin: Tensor = sum.reshape([batch, frames, total, perBin]).mul(shares.expandDims(-1))
      return byBin.reshape([batch, frames, total * perBin])
    })
}
