import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frameCount, windowLength } from '../../../../models/layers/framing.ts'
import { istft, stft } from '../../../../models/layers/stft.ts'
import { hopAt } from '../../../../models/mini/lane-bucket.ts'
import { tf } from '../../../../models/tensorflow/tensor.ts'
import { assertClose } from '../../../support/basics/assert-close.ts'

const RATES = [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000]

test('bins are about 15.6 Hz and frames about 16 ms at every rate', () => {
  assert.deepEqual([32_000, 44_100, 48_000].map(hopAt), [512, 704, 768])
  assert.equal(hopAt(1), 16)
  for (const rate of RATES) assert(Math.abs(hopAt(rate) / rate - 0.016) < 0.0003)
})

test('the inverse gives the signal back, for every rate, shift and length', () => {
  for (const rate of RATES) {
    const hop = hopAt(rate)
    const shiftMax = 1.5 * hop
    for (const samples of [windowLength(hop), 6 * hop - 1, 6 * hop, 6 * hop + 1]) {
      const wave = tf.randomUniform([2, samples], -1, 1, 'float32', 1)
      const expected = wave.dataSync<'float32'>()
      for (const shift of [0, hop / 2, hop, shiftMax]) {
        const framing = { hop, frames: frameCount(samples, hop, shift), shift }
        const back = tf.tidy(() => istft(stft(wave, framing), framing, samples))
        assert.deepEqual(back.shape, [2, samples])
        assertClose(back.dataSync<'float32'>(), expected, { absolute: 2e-6 })
        back.dispose()
      }
      wave.dispose()
    }
  }
})
