import assert from 'node:assert/strict'
import test from 'node:test'
import { TargetCorrelation } from '../../../../engine/job/target-correlation.ts'
import { noise } from '../../../harness/signals.ts'

const stereo = (wave: Float32Array) => [wave, wave.map((x) => -x)]

test('targets with one sound in common are named, over all channels and blocks', () => {
  const [one, other] = [noise(1, 8_000, 1), noise(1, 8_000, 2)]
  const mixed = one.map((x, i) => x + 0.5 * other[i]!)
  const correlation = new TargetCorrelation(['speech', 'rain', 'a voice'])
  for (const [from, to] of [
    [0, 3_000],
    [3_000, 8_000],
  ]) {
    correlation.add([one, other, mixed].map((wave) => stereo(wave.slice(from, to))))
  }
  const lines = correlation.describe()
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /"speech" and "a voice" are alike \(correlation 0\.(89|9\d)\)/)
})

test('silent targets are like none, and one target like nothing', () => {
  const silence = [new Float32Array(100)]
  const correlation = new TargetCorrelation(['a', 'b'])
  correlation.add([silence, silence])
  assert.deepEqual(correlation.describe(), [])
  const single = new TargetCorrelation(['a'])
  single.add([[noise(1, 100)]])
  assert.deepEqual(single.describe(), [])
})
