/** The mark at odd widths: half a width is rounded down. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWatermark } from '../../support/parity/watermark.ts'
import { countOf, type StoredTensor } from '../../../models/checkpoint/stored-tensor.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../models/checkpoint/weights.ts'
import { assertClose } from '../../support/basics/assert-close.ts'
import { noise } from '../../support/models/lanes.ts'

const WIDE = 5
const CODE = 4
const BITS = 2
const KERNEL = 4

/** Shapes of a mark with one block of `width` channels whose units have `half` of them inside. */
function shapesOf(width: number, half: number): Record<string, readonly number[]> {
  const convolution = (name: string, out: number, ...rest: number[]) => ({
    [`${name}.weight`]: [out, ...rest],
    [`${name}.bias`]: [out],
  })
  const unit = (name: string) => ({
    ...convolution(`${name}.block.1`, half, width, 3),
    ...convolution(`${name}.block.3`, width, half, 1),
  })
  const lstm = (name: string) =>
    Object.fromEntries(
      [0, 1].flatMap((i) =>
        ['ih', 'hh'].flatMap((kind) => [
          [`${name}.lstm.weight_${kind}_l${i}`, [4 * WIDE, WIDE]],
          [`${name}.lstm.bias_${kind}_l${i}`, [4 * WIDE]],
        ]),
      ),
    )
  const block = 'model.1.block'
  const [encoder, decoder] = ['wm_model.encoder_block', 'wm_model.decoder_block']
  return {
    ...convolution(`${block}.11`, WIDE, width, KERNEL),
    [`${block}.3.weight`]: [WIDE, width, KERNEL],
    [`${block}.3.bias`]: [width],
    ...unit(`${block}.6`),
    ...unit(`${block}.7`),
    ...convolution(`${encoder}.pre.3`, width, 1, 7),
    ...lstm(`${encoder}.post.0`),
    ...convolution(`${encoder}.post.2`, CODE, WIDE, 7),
    'wm_model.msg_processor.msg_processor.weight': [2 * BITS, CODE],
    ...convolution(`${decoder}.pre.0`, WIDE, CODE, 7),
    ...lstm(`${decoder}.pre.1`),
    ...convolution(`${decoder}.post.1`, 1, width, 7),
  }
}

/** Random numbers of the one mark's shapes, with zeros around where the other's are larger. */
function weightsOf(filled: Record<string, readonly number[]>, shapes = filled): Weights {
  const tensors = Object.entries(shapes).map(([name, shape], seed): [string, StoredTensor] => {
    const inner = filled[name]!
    const values = tf.tidy(() => {
      const random = tf.tensor(noise(countOf(inner), seed + 1), [...inner], 'float32')
      return tf
        .pad(
          random,
          shape.map((size, axis) => [0, size - inner[axis]!]),
        )
        .dataSync<'float32'>()
    })
    return [
      name,
      { shape, type: 'F32', bytes: 4 * values.length, values: () => Float32Array.from(values) },
    ]
  })
  return Weights.of('a mark', new Map(tensors))
}

test('a unit of an odd width has the lesser half of it inside', () =>
  tf.tidy(() => {
    const odd = shapesOf(3, 1)
    const frames = 6
    const samples = tf.tensor3d(noise(frames * (KERNEL / 2), 99), [1, frames * (KERNEL / 2), 1])
    const message = tf.tensor2d([1, 0], [1, BITS])
    const marked = (weights: Weights) =>
      loadWatermark(weights, 1).forward(samples, message).dataSync<'float32'>()
    const ours = marked(weightsOf(odd))
    assertClose(ours, marked(weightsOf(odd, shapesOf(4, 2))), { absolute: 1e-6 }) // zeros add nothing
    assert.notDeepEqual([...ours], [...samples.dataSync<'float32'>()])
  }))
