/**
 * Joins overlapping windows of one signal: the weighted mean of all windows that hold a sample.
 * Plain numbers, so that whoever cuts a signal up needs no TensorFlow to put it together.
 */

/** A stretch of the signal, on all of its rows (channels, or channels of several stems). */
export interface WeightedWindow {
  /** Its first sample in the signal. */
  start: number
  /** Samples, one array per row, all as long as `weights`. */
  rows: readonly Float32Array[]
  /** How much each sample counts, from 0. */
  weights: Float32Array
}

/**
 * The windows' sum by their weights, divided by the sum of the weights. A sample that no window
 * weighs is 0. Windows are read one by one, in any order, so that a generator can make them.
 * @param rows of the signal, and of every window
 * @param samples of each row
 * @throws RangeError when a window reaches outside of the signal, or has other rows
 */
export function joinWeighted(
  windows: Iterable<WeightedWindow>,
  rows: number,
  samples: number,
): Float32Array[] {
  const sums = Array.from({ length: rows }, () => new Float32Array(samples))
  const totals = new Float32Array(samples)
  for (const window of windows) {
    checkWindow(window, rows, samples)
    const { start, weights } = window
    for (let i = 0; i < weights.length; i += 1) totals[start + i]! += weights[i]!
    sums.forEach((sum, row) => addWeighted(sum, window.rows[row]!, window))
  }
  for (const sum of sums) divide(sum, totals)
  return sums
}

function addWeighted(
  sum: Float32Array,
  values: Float32Array,
  { start, weights }: WeightedWindow,
): void {
  for (let i = 0; i < weights.length; i += 1) sum[start + i]! += weights[i]! * values[i]!
}

function divide(sum: Float32Array, totals: Float32Array): void {
  for (let i = 0; i < sum.length; i += 1) sum[i] = totals[i]! > 0 ? sum[i]! / totals[i]! : 0
}

function checkWindow({ start, rows, weights }: WeightedWindow, count: number, samples: number) {
  const { length } = weights
  const isInside = Number.isInteger(start) && start >= 0 && start + length <= samples
  if (isInside && rows.length === count && rows.every((row) => row.length === length)) return
  throw new RangeError(
    `A window of ${rows.map((row) => row.length)} samples and ${length} weights from ${start} ` +
      `does not fit ${count} rows of ${samples} samples`,
  )
}

/**
 * Weights that rise by equal steps to 1 in the middle of a window and fall again; none is 0, so
 * that the ends of a signal, which one window alone holds, come out as they are.
 */
export function triangle(length: number): Float32Array {
  const half = Math.floor(length / 2)
  const peak = length - half
  return Float32Array.from({ length }, (_, i) => (i < half ? i + 1 : length - i) / peak)
}
