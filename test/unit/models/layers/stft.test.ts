import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Binding } from '../../../../models/tensorflow/binding.ts'
import { frameCount, windowLength } from '../../../../models/layers/framing.ts'
import {
  interleaveChannels,
  istft,
  separateChannels,
  stft,
} from '../../../../models/layers/stft.ts'
import { hopAt } from '../../../../models/mini/lane-bucket.ts'
import { native, tf } from '../../../../models/tensorflow/tensor.ts'
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

test("a sine is in its bin, with half of the window's sum", () => {
  const hop = 512
  const framing = { hop, frames: frameCount(32_000, hop, 0), shift: 0 }
  const angle = (2 * Math.PI * 64) / 2048
  const sine = Float32Array.from({ length: 32_000 }, (_, i) => Math.sin(angle * i))
  const row = tf.tidy(() => {
    const spectrum = stft(tf.tensor2d(sine, [1, 32_000]), framing)
    return tf
      .sqrt(tf.real(spectrum).square().add(tf.imag(spectrum).square()))
      .slice([0, 30, 62], [1, 1, 5])
  })
  assertClose(row.dataSync<'float32'>(), [0, 256, 512, 256, 0], { absolute: 0.01 })
  row.dispose()
})

test('frames are numbered like those of torch.stft', () => {
  assert.equal(frameCount(48_960, 512, 0), 96)
  assert.equal(frameCount(51_200, 512, 0), 101)
})

test('a window of whole hops is framed without copying padding', () => {
  const operations: string[] = []
  const { binding } = native
  const executeOp: Binding['executeOp'] = (...operation) => {
    operations.push(operation[0])
    return binding.executeOp(...operation)
  }
  native.binding = Object.create(binding, { executeOp: { value: executeOp } }) as Binding
  try {
    const wave = tf.ones([1, 512])
    const padsOf = (window: number) => {
      operations.length = 0
      tf.tidy(() => void stft(wave, { hop: 32, window, frames: frameCount(512, 32, 0), shift: 0 }))
      return operations.filter((name) => name === 'Pad').length
    }
    assert.deepEqual([padsOf(128), padsOf(150)], [0, 1])
    wave.dispose()
  } finally {
    native.binding = binding
  }
})

test('channels are adjacent, real before imaginary part, and can be separated again', () => {
  tf.tidy(() => {
    // 2 items of 2 channels, 3 frames and 5 bins; every number is different.
    const real = tf.range(0, 60).reshape([4, 3, 5])
    const imaginary = real.add(100)
    const parts = interleaveChannels(tf.complex(real, imaginary), 2)
    assert.deepEqual(parts.shape, [2, 3, 5, 4])
    // Item 1, frame 2, bin 3: channels 0 and 1.
    assert.deepEqual(
      [...tf.slice(parts, [1, 2, 3, 0], [1, 1, 1, 4]).dataSync()],
      [43, 143, 58, 158],
    )
    const back = separateChannels(parts)
    assert.deepEqual([...back[0].dataSync()], [...real.dataSync()])
    assert.deepEqual([...back[1].dataSync()], [...imaginary.dataSync()])
  })
})
