/** Places a target of one channel among the channels of a mixture. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeTarget } from '../../../../models/lanes/place-target.ts'
import { tf } from '../../../../models/tensorflow/tensor.ts'
import { noise, sine } from '../../../support/media/signals.ts'

const RATE = 16_000
const SECONDS = 3

const sumOf = (...waves: Float32Array[]) =>
  waves[0]!.map((_, i) => waves.reduce((sum, wave) => sum + wave[i]!, 0))
const scaled = (wave: Float32Array, gain: number) => wave.map((x) => gain * x)
const power = (wave: Float32Array) => wave.reduce((sum, x) => sum + x ** 2, 0)

/** Returns in dB how far the error of a target is below the target. */
const sdr = (target: Float32Array, found: Float32Array) =>
  10 * Math.log10(power(target) / power(target.map((x, i) => x - found[i]!)))

const target = noise(SECONDS, RATE, 1)
const rest = sumOf(noise(SECONDS, RATE, 2), sine(440, SECONDS, RATE))

for (const [name, left, right] of [
  ['in the middle', 1, 1],
  ['on the left', 1, 0],
  ['mostly on the right', 0.3, 0.9],
  ['out of phase', 1, -0.5],
] as const) {
  test(`a target ${name} is found there, even if the rest is elsewhere`, () => {
    const mixture = [
      sumOf(scaled(target, left), scaled(rest, 0.2)),
      sumOf(scaled(target, right), scaled(rest, 0.6)),
    ]
    placeTarget(mixture, target) // fills the cache of windows
    const before = tf.memory().numTensors
    const placed = placeTarget(mixture, scaled(target, (left + right) / 2))
    assert.equal(tf.memory().numTensors, before)
    for (const [c, gain] of [left, right].entries()) {
      const own = scaled(target, gain)
      if (gain === 0) assert.ok(power(placed[c]!) < 0.01 * power(target), 'none on the other side')
      else assert.ok(sdr(own, placed[c]!) > 15, `${sdr(own, placed[c]!)} dB in channel ${c}`)
    }
  })
}

test('a single channel is the target itself; short and silent ones give finite numbers', () => {
  assert.deepEqual(placeTarget([target], target), [target])
  for (const samples of [1, 100, 3_000]) {
    const silence = new Float32Array(samples)
    const placed = placeTarget([silence, silence], silence)
    assert.ok(placed.every((wave) => wave.length === samples && wave.every((x) => x === 0)))
  }
})
