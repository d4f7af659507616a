/**
 * A stream that is resampled to another rate and back, without changes by a model, is unchanged.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Resampler } from '../../../../engine/media/resampler.ts'
import { noise, sine } from '../../../support/media/signals.ts'

function through(wave: Float32Array[], from: number, to: number, blockSamples: number) {
  const resampler = new Resampler({ from, to, channels: wave.length })
  const blocks: Float32Array[][] = []
  for (let start = 0; start < wave[0]!.length; start += blockSamples) {
    blocks.push(...resampler.add(wave.map((x) => x.subarray(start, start + blockSamples))))
  }
  blocks.push(...resampler.finish())
  resampler.close()
  return wave.map((_, c) => Float32Array.from(blocks.flatMap((block) => [...block[c]!])))
}

/** Signal-to-error ratio in dB, ignoring `edge` samples at both ends. */
function likeness(one: Float32Array, other: Float32Array, edge: number): number {
  let [power, error] = [0, 0]
  for (let i = edge; i < one.length - edge; i += 1) {
    power += one[i]! ** 2
    error += (one[i]! - other[i]!) ** 2
  }
  return 10 * Math.log10(power / error)
}

const PAIRS = [
  [48_000, 44_100],
  [44_100, 48_000],
  [44_100, 32_000],
  [8_000, 44_100],
] as const

for (const [from, to] of PAIRS) {
  test(`${from} Hz to ${to} Hz and back: a tone within 0.42 of the lower rate is the same`, () => {
    for (const share of [0.01, 0.2, 0.42]) {
      const wave = sine(share * Math.min(from, to), 1, from)
      const [there] = through([wave], from, to, 5_000)
      assert.ok(Math.abs(there!.length - (wave.length * to) / from) <= 1)
      const [back] = through([there!], to, from, 4_096)
      const decibels = likeness(wave, back!, 2_000)
      assert.ok(decibels > 85, `${decibels} dB at ${share}`) // a filter of 32 taps reaches 41
    }
  })
}

test('blocks of any length give the same result, and channels stay separate', () => {
  const wave = [noise(0.3, 48_000, 1), noise(0.3, 48_000, 2), new Float32Array(14_400)]
  const whole = through(wave, 48_000, 44_100, 14_400)
  assert.deepEqual(through(wave, 48_000, 44_100, 777), whole)
  assert.ok(whole[2]!.every((x) => x === 0))
  assert.equal(likeness(whole[0]!, whole[1]!, 100) < 1, true)
})
