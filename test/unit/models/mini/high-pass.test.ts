/** The filter removes infrasound from a chunk, and nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { highPass } from '../../../../models/mini/high-pass.ts'
import { fc } from '../../../support/basics/property.ts'

const SECONDS = 2

const filtered = (wave: Float32Array, sampleRate: number): Float32Array =>
  highPass({ channels: [wave], sampleRate }).channels[0]!

const sine = (hertz: number, sampleRate: number): Float32Array =>
  Float32Array.from({ length: SECONDS * sampleRate }, (_, i) =>
    Math.sin((2 * Math.PI * hertz * i) / sampleRate + 1),
  )

/**
 * Returns how much of `wave` is in `filteredWave`, ignoring the ends; 1 if all of it is, without a
 * shift in time.
 */
function shareOf(filteredWave: Float32Array, wave: Float32Array): number {
  const quarter = wave.length / 4
  const dot = (other: Float32Array) =>
    other
      .subarray(quarter, 3 * quarter)
      .reduce((sum, sample, i) => sum + sample * wave[quarter + i]!, 0)
  return dot(filteredWave) / dot(wave)
}

test('rumble is removed and audible sound keeps its place, at every rate', () => {
  for (const sampleRate of [8_000, 44_100, 768_000]) {
    // By the filter's formula, 1 / (1 + (20 / hertz) ** 12).
    for (const [hertz, share] of Object.entries({ 8: 0, 15: 0.031, 20: 0.5, 30: 0.992, 100: 1 })) {
      const wave = sine(Number(hertz), sampleRate)
      const found = shareOf(filtered(wave, sampleRate), wave)
      assert.ok(Math.abs(found - share) < 2e-3, `${sampleRate}: ${found} of ${hertz} Hz`)
    }
  }
})

test('an offset alone leaves nothing, and changes nothing else', () => {
  const wave = sine(300, 44_100)
  for (const offset of [0.1, -1]) {
    const alone = filtered(new Float32Array(5_000).fill(offset), 44_100)
    assert.ok(alone.every((sample) => sample === 0))
    const plain = filtered(wave, 44_100)
    const lifted = filtered(
      wave.map((sample) => sample + offset),
      44_100,
    )
    const most = lifted.reduce((max, sample, i) => Math.max(max, Math.abs(sample - plain[i]!)), 0)
    assert.ok(most < 1e-6, `${most} apart`) // rounding moves samples from 1 to 2 by 6e-8 to 1.2e-7
  }
})

test('NaN is read as silence', () => {
  const broken = sine(300, 8_000)
  const silenced = broken.slice()
  broken.set([Number.NaN, Number.POSITIVE_INFINITY, -1e38], 5)
  silenced.fill(0, 5, 8)
  assert.deepEqual(filtered(broken, 8_000), filtered(silenced, 8_000))
})

test('every rate and every length gives finite samples, and as many as the input', () => {
  const rate = fc.double({ min: 1e-3, max: 768_000, noNaN: true })
  const samples = fc.float32Array({ minLength: 1, maxLength: 300 })
  fc.assert(
    fc.property(rate, samples, (sampleRate, wave) => {
      const result = filtered(wave, sampleRate)
      assert.equal(result.length, wave.length)
      assert.ok(result.every(Number.isFinite))
    }),
  )
})
