/** Compares numbers within a stated tolerance. */
import assert from 'node:assert/strict'

type Numbers = Float32Array | Int32Array | readonly number[]

/** The allowed difference: `absolute`, plus `relative` times the largest expected magnitude. */
interface Tolerance {
  absolute?: number
  relative?: number
}

/** Fails with the worst difference and its index. NaN always fails. */
export function assertClose(
  actual: Numbers,
  expected: Numbers,
  { absolute = 0, relative = 0 }: Tolerance,
): void {
  assert.equal(actual.length, expected.length, 'lengths differ')
  let worst = { difference: 0, at: 0 }
  let largest = 0
  for (let i = 0; i < expected.length; i += 1) {
    const difference = Math.abs(actual[i]! - expected[i]!)
    if (!(difference <= worst.difference)) worst = { difference, at: i }
    if (Number.isNaN(difference)) break
    largest = Math.max(largest, Math.abs(expected[i]!))
  }
  const allowed = absolute + relative * largest
  const { difference, at } = worst
  const values = `${actual[at]} instead of ${expected[at]} at ${at}`
  assert(difference <= allowed, `differs by ${difference}, more than ${allowed}: ${values}`)
}
