import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LevelMeter, levelOf } from '../../../../models/lanes/level.ts'
import { noise } from '../../../support/models/lanes.ts'

test('the level of blocks is that of their whole mono mix, even if quiet or off center', () => {
  for (const scale of [1, 1e-6]) {
    const sides = [1, 2].map((seed) => noise(10_000, seed, scale).map((x) => x + 0.3))
    const mono = sides[0]!.map((x, i) => (x + sides[1]![i]!) / 2)
    const mean = mono.reduce((sum, x) => sum + x, 0) / mono.length
    const variance = mono.reduce((sum, x) => sum + (x - mean) ** 2, 0) / mono.length
    const meter = new LevelMeter()
    for (const [start, end] of [
      [0, 1],
      [1, 4_000],
      [4_000, 4_000],
      [4_000, 10_000],
    ]) {
      meter.add(sides.map((side) => side.subarray(start, end)))
    }
    const { level } = meter
    assert.ok(Math.abs(level.mean - mean) < 1e-6)
    assert.ok(Math.abs(level.deviation / Math.sqrt(variance) - 1) < (scale === 1 ? 1e-6 : 0.05))
  }
})

test('silence has no deviation, and NaN counts as silence', () => {
  assert.deepEqual(levelOf([new Float32Array(3)]), { mean: 0, deviation: 0 })
  assert.deepEqual(levelOf([]), { mean: 0, deviation: 0 })
  assert.deepEqual(
    levelOf([Float32Array.of(Number.NaN, Infinity, 3)]),
    levelOf([Float32Array.of(0, 0, 3)]),
  )
})
