import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openSafetensors } from '../../../../models/checkpoint/safetensors.ts'
import { tf } from '../../../../models/tensorflow/tensor.ts'
import { Weights } from '../../../../models/checkpoint/weights.ts'
import { temporaryFolder } from '../../../support/basics/temporary-folder.ts'

const folder = temporaryFolder({ after })

type Header = Record<string, unknown>

function write(header: Header | string, data: Uint8Array): string {
  const text = typeof header === 'string' ? header : JSON.stringify(header)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(text)))
  const file = join(folder, 'weights.safetensors')
  writeFileSync(file, Buffer.concat([length, Buffer.from(text), data]))
  return file
}

const bytesOf = (array: Float32Array | Int32Array | Uint16Array) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)

const entry = (dtype: string, shape: number[], end: number) => ({
  dtype,
  shape,
  data_offsets: [0, end],
})

const read = (file: string, name = 'a') => [...openSafetensors(file).get(name)!.values()]

test('float32 and int32 are read as they are, at any alignment of the header', () => {
  for (const padding of ['', ' ', '  ', '   ']) {
    const header = JSON.stringify({ a: entry('F32', [3], 12) }) + padding
    assert.deepEqual(read(write(header, bytesOf(Float32Array.of(1, -2.5, 3)))), [1, -2.5, 3])
  }
  const integers = write({ a: entry('I32', [2], 8) }, bytesOf(Int32Array.of(7, -8)))
  assert.deepEqual(read(integers), [7, -8])
})

test('half precision is widened: normal, subnormal, largest, infinite, not a number', () => {
  const bits = Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0x7e00)
  const values = read(write({ a: entry('F16', [8], 16) }, bytesOf(bits)))
  const subnormal = [2 ** -24, -1023 * 2 ** -24]
  const infinite = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  assert.deepEqual(values, [1, -2, ...subnormal, 65504, ...infinite, Number.NaN])
})

test('bfloat16 is widened', () => {
  const bits = Uint16Array.of(0x3f80, 0xc040, 0x7f80)
  const values = read(write({ a: entry('BF16', [3], 6) }, bytesOf(bits)))
  assert.deepEqual(values, [1, -3, Number.POSITIVE_INFINITY])
})

test('metadata is not a tensor, and an unknown type only matters when it is read', () => {
  const header = { __metadata__: { format: 'pt' }, a: entry('F8_E5M2', [4], 4) }
  const tensors = openSafetensors(write(header, new Uint8Array(4)))
  assert.deepEqual([...tensors.keys()], ['a'])
  assert.throws(() => tensors.get('a')!.values(), /weights\.safetensors: tensor a: type F8_E5M2/)
})

test('a damaged file is refused, naming the file and the tensor', () => {
  const data = new Uint8Array(8)
  const cases: [Header | string, RegExp][] = [
    ['{', /weights\.safetensors: the safetensors header/],
    ['[]', /weights\.safetensors: the safetensors header/],
    [{ a: 1 }, /tensor a: its header entry/],
    [{ a: { dtype: 'F32', shape: [-1], data_offsets: [0, 4] } }, /tensor a: its shape/],
    [{ a: { dtype: 'F32', shape: [1], data_offsets: [0] } }, /tensor a: its offsets/],
    [{ a: { dtype: 'F32', shape: [1], data_offsets: [8, 4] } }, /tensor a: bytes 8 to 4/],
    [{ a: entry('F32', [3], 12) }, /tensor a: bytes 0 to 12 are not within the 8/],
  ]
  for (const [header, message] of cases) {
    assert.throws(() => openSafetensors(write(header, data)), message)
  }
  assert.throws(() => read(write({ a: entry('F32', [1], 8) }, data)), /tensor a: F32 \[1\] takes 4/)
  writeFileSync(join(folder, 'weights.safetensors'), 'short')
  assert.throws(() => openSafetensors(join(folder, 'weights.safetensors')), /too short/)
  writeFileSync(join(folder, 'weights.safetensors'), 'neither safetensors nor short')
  assert.throws(() => openSafetensors(join(folder, 'weights.safetensors')), /cut short/)
})

test('everything that is wrong with weights is reported at once', () => {
  const file = write(
    {
      present: entry('F32', [2], 8),
      misshapen: entry('F32', [2], 8),
      unused: entry('F32', [2], 8),
      odd: entry('F8_E5M2', [8], 8),
    },
    bytesOf(Float32Array.of(1, 2)),
  )
  const before = tf.memory().numTensors
  const ask = (weights: Weights) =>
    tf.tidy(() => {
      weights.get('present', [2])
      weights.get('absent', [3])
      weights.get('misshapen', [1, 2])
      weights.get('odd', [8])
    })
  assert.throws(
    () => Weights.read(file, ask),
    (error: Error) => {
      const lines = error.message.replaceAll(`${file}: `, '').split('\n')
      assert.deepEqual(lines, [
        'weight absent is missing',
        'weight misshapen has shape [2], expected [1,2]',
        'tensor odd: type F8_E5M2 is not one of F32, F16, BF16, I32',
        '1 weights were not read: unused',
      ])
      return true
    },
  )
  assert.equal(tf.memory().numTensors, before)
  const sum = Weights.read(
    write({ a: entry('F32', [2], 8) }, bytesOf(Float32Array.of(1, 2))),
    (weights) => tf.tidy(() => weights.get('a', [2]).sum().arraySync()),
  )
  assert.equal(sum, 3)
})

test('weights are read by path and exact shape, and all must be read', () => {
  const file = write(
    {
      'layer.0.gain': entry('F32', [2], 8),
      'layer.0.bias': entry('F32', [2], 8),
      unused: entry('F32', [2], 8),
    },
    bytesOf(Float32Array.of(1, 2)),
  )
  const weights = Weights.open(file)
  assert.equal(weights.parameters, 6)
  const layer = weights.at('layer').at(0)
  assert.throws(() => layer.get('scale', [2]), /weights\.safetensors: weight layer\.0\.scale is/)
  assert.throws(() => layer.get('gain', [1, 2]), /layer\.0\.gain has shape \[2\], expected \[1,2\]/)
  const gain = layer.get('gain', [2])
  assert.deepEqual([...gain.dataSync()], [1, 2])
  gain.dispose()
  assert.throws(() => weights.assertAllRead(), /2 weights were not read: layer\.0\.bias, unused/)
  layer.get('bias', [2]).dispose()
  weights.ignore('unused')
  weights.assertAllRead()
})
