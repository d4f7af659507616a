/** Windows of a song, joined as references join theirs. */
import { WeightedJoiner } from '../../../engine/job/weighted-joiner.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'

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
  const joiner = new WeightedJoiner()
  const joined = Array.from({ length: stems * channels }, () => new Float32Array(samples))
  let end = 0
  const place = (settled: readonly Float32Array[]) => {
    for (const [r, row] of settled.entries()) joined[r]!.set(row, end)
    end += settled[0]?.length ?? 0
  }
  for (const { start, rows, weights } of readWindows(windows)) {
    place(joiner.push(start, rows, weights))
  }
  place(joiner.finish())
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
