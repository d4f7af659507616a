/** Checkpoints of mini load with full names, and with the short ones used before 0.2.0. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openTensors, Weights } from '../../../../models/checkpoint/weights.ts'
import { readConfig } from '../../../../models/mini/config.ts'
import { loadNetwork } from '../../../../models/mini/network/network.ts'
import { fullName } from '../../../../models/mini/weight-names.ts'
import { tf } from '../../../../models/tensorflow/tensor.ts'
import { WEIGHTS_FOLDER } from '../../../support/models/golden.ts'

const whole = openTensors(join(WEIGHTS_FOLDER, 'model.safetensors'))
const shortNames = await readFile(join(WEIGHTS_FOLDER, 'short-names.json'), 'utf8')
const shortOf = new Map(
  Object.entries(JSON.parse(shortNames) as Record<string, string>).map(([short, step]) => [
    step,
    short,
  ]),
)
const shortName = (name: string): string =>
  name.replace(/[^.]+/g, (step) => shortOf.get(step) ?? step)
const short = new Map([...whole].map(([name, tensor]) => [shortName(name), tensor]))
const config = await readConfig(join(WEIGHTS_FOLDER, 'config.json'))

test('every part of a full name is a number or a word of three letters or more', () => {
  for (const name of whole.keys()) assert.match(name, /^([a-z_]{3,}|\d+)(\.([a-z_]{3,}|\d+))*$/)
})

test('each short name stands for the full one', () => {
  assert.equal(short.size, whole.size)
  assert.deepEqual([...short.keys()].map(fullName), [...whole.keys()])
})

test('a full name stays as it is', () => {
  for (const name of whole.keys()) assert.equal(fullName(name), name)
})

test('short and full names load the same network', () => {
  const codes = [short, whole].map((tensors) => {
    const network = loadNetwork(Weights.of('mini', tensors), config)
    return tf.tidy(() => network.textCode(tf.ones([1, config.embeddingDim])).dataSync<'float32'>())
  })
  assert.deepEqual(codes[0], codes[1])
})

test('a checkpoint with one weight under both names is refused', () => {
  const both = new Map([...short, ...whole])
  assert.throws(
    () => loadNetwork(Weights.of('mini', both), config),
    /mini: two weights have one name/,
  )
})
