/** Joins the windows of a song the way references do. */
import { WeightedJoiner } from '../../../engine/job/weighted-joiner.ts'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'

interface StemsWindow {
  /** First sample in the song. */
  start: number
  /** [stems, channels, length] */
  stems: Tensor
  /** Weight of each of the `length` samples. */
  weights: Float32Array
}

/** Joins windows into [stems, channels, samples]. */
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
