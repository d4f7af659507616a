/** Windows of a song, joined as references join theirs. */
import { joinWeighted } from '../../models/join-weighted.ts'
import { tf, type Tensor } from '../../models/tensor.ts'

export interface StemsWindow {
  /** Its first sample in the song. */
  start: number
  /** [stems, channels, length] */
  stems: Tensor
  /** `length` of them. */
  weights: Float32Array
}

/** To [stems, channels, samples]. */
export function joinStems(
  windows: Iterable<StemsWindow>,
  [stems, channels, samples]: readonly [number, number, number],
): Tensor {
  const joined = joinWeighted(readWindows(windows), stems * channels, samples)
  return tf.tidy(() =>
    tf.stack(joined.map((row) => tf.tensor1d(row))).reshape([stems, channels, samples]),
  )
}

function* readWindows(windows: Iterable<StemsWindow>) {
  for (const { start, stems, weights } of windows) {
    const values = stems.dataSync<'float32'>()
    const length = weights.length
    const rows = Array.from({ length: values.length / length }, (_, row) =>
      values.subarray(row * length, (row + 1) * length),
    )
    yield { start, rows, weights }
  }
}
