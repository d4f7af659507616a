/** How far numbers are from others. */

/** Root of the mean square of the difference, as a share of that of what is expected. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  const power = (values: number[]) => values.reduce((sum, x) => sum + x * x, 0)
  const [a, b] = [Array.from(actual), Array.from(expected)]
  return Math.sqrt(power(a.map((x, i) => x - b[i]!)) / power(b))
}
