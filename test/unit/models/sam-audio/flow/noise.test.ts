import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertClose } from '../../../../support/basics/assert-close.ts'
import { noiseFrames } from '../../../../../models/sam-audio/flow/noise.ts'

const CHANNELS = 256

test('overlapping chunks start with the same noise where they overlap', () => {
  const whole = noiseFrames(7, 0, 100, CHANNELS)
  const later = noiseFrames(7, 60, 40, CHANNELS)
  assert.deepEqual(later, whole.slice(60 * CHANNELS))
})

test('another seed, frame or channel gives other noise', () => {
  const first = noiseFrames(1, 0, 4, CHANNELS)
  const other = noiseFrames(2, 0, 4, CHANNELS)
  assert.equal(new Set([...first, ...other]).size, first.length + other.length)
})

test('the noise is normally distributed, and neighbors are independent', () => {
  const frames = 1_000
  const noise = noiseFrames(123_456_789, 5_000, frames, CHANNELS)
  const mean = (of: (x: number, i: number) => number) =>
    noise.reduce((sum, x, i) => sum + of(x, i), 0) / noise.length
  const moments = [1, 2, 3, 4].map((power) => mean((x) => x ** power))
  const products = [1, 2, CHANNELS, CHANNELS + 1].map((distance) =>
    mean((x, i) => x * (noise[i + distance] ?? 0)),
  )
  assertClose(moments.slice(0, 2), [0, 1], { absolute: 0.01 })
  assertClose(moments.slice(2), [0, 3], { absolute: 0.06 })
  assertClose(products, [0, 0, 0, 0], { absolute: 0.01 })
})
