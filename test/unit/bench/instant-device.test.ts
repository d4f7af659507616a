/** The device that needs no time answers with the same shapes as TensorFlow, for graphs too. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instantDevice } from '../../../bench/feed/instant-device.ts'
import { compiled, graphsHeld } from '../../../models/graph/compiled.ts'
import { WARM_UP_CALLS } from '../../../models/graph/graph-cache.ts'
import { loadMini } from '../../../models/mini/mini.ts'
import { native, rfft, softmax, tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { TEXT_ENCODER_FOLDER } from '../../support/models/golden.ts'
import { laneRequest, noise, separateOne } from '../../support/models/lanes.ts'

const forward = (x: Tensor): { parts: Tensor; spectrum: Tensor } =>
  tf.tidy(() => {
    const [first, second] = tf.split(softmax(x), 2, 1) as [Tensor, Tensor]
    return { parts: tf.concat([first, second.mul(2), first], -1), spectrum: rfft(x, 8) }
  })

function shapesOf(run: (x: Tensor) => ReturnType<typeof forward>): (readonly number[])[] {
  const x = tf.ones([3, 8])
  const { parts, spectrum } = run(x)
  const read = parts.dataSync().length
  tf.dispose([x, parts, spectrum])
  return [parts.shape, spectrum.shape, [read]]
}

test('operations and graphs have the shapes that TensorFlow gives', () => {
  const expected = shapesOf(forward)
  const { binding } = native
  const asGraph = compiled(forward)
  native.binding = instantDevice(binding)
  try {
    for (let call = 0; call < WARM_UP_CALLS; call += 1) {
      assert.deepEqual(shapesOf(asGraph), expected)
    }
    assert.equal(graphsHeld(), 1)
  } finally {
    native.binding = binding
  }
})

test('the built-in model runs on it, step by step and as graphs', async () => {
  const { binding } = native
  native.binding = instantDevice(binding)
  try {
    const mini = await loadMini({ textEncoderFolder: TEXT_ENCODER_FOLDER })
    const before = graphsHeld()
    for (let call = 0; call < WARM_UP_CALLS; call += 1) {
      const channels = [1, 2].map((seed) => noise(44_100, seed))
      const { target } = separateOne(mini, laneRequest({ channels, sampleRate: 44_100 }))
      assert.deepEqual(
        target.map(({ length }) => length),
        [44_100, 44_100],
      )
    }
    assert.equal(graphsHeld() - before, 4)
  } finally {
    native.binding = binding
  }
})
