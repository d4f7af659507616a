/** Root mean square of the difference, relative to that of the expected values. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  const power = (values: number[]) => values.reduce((sum, x) => sum + x * x, 0)
  const [a, b] = [Array.from(actual), Array.from(expected)]
  return Math.sqrt(power(a.map((x, i) => x - b[i]!)) / power(b))
}
