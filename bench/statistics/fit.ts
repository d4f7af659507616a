/** Fits straight lines to measured points. */

export interface Point {
  x: number
  y: number
}

export interface Line {
  intercept: number
  slope: number
}

/** Weighted least squares; NaN if all points have the same x. */
export function fitLine(points: readonly Point[], weightOf = (_: Point): number => 1): Line {
  let [weights, x, y, xx, xy] = [0, 0, 0, 0, 0]
  for (const point of points) {
    const weight = weightOf(point)
    weights += weight
    x += weight * point.x
    y += weight * point.y
    xx += weight * point.x * point.x
    xy += weight * point.x * point.y
  }
  const slope = (weights * xy - x * y) / (weights * xx - x * x)
  return { intercept: (y - slope * x) / weights, slope }
}

/** Weights points by their relative error, because the spread of step times grows with the time. */
export const fitTimes = (points: readonly Point[]): Line =>
  fitLine(points, ({ y }) => 1 / Math.max(y, Number.EPSILON) ** 2)

/** Returns whether the slope is positive with 95 % confidence (t-test, one-sided). */
export function risesSignificantly(points: readonly Point[]): boolean {
  const n = points.length
  if (n < 4) return false
  const { intercept, slope } = fitLine(points)
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / n
  const spreadX = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  const residual = points.reduce((sum, { x, y }) => sum + (y - intercept - slope * x) ** 2, 0)
  const error = Math.sqrt(residual / (n - 2) / spreadX)
  return slope > 0 && slope > studentT95(n - 2) * error
}

/** The 95 % quantile of Student's t to two digits (Abramowitz and Stegun, 26.7.5). */
export function studentT95(degrees: number): number {
  const z = 1.6449
  const g1 = (z ** 3 + z) / 4
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  return z + g1 / degrees + g2 / degrees ** 2
}
