/** Reads PyTorch's results for the built-in model, in `test/fixtures/parity/mini`. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { openSafetensors } from '../../../models/checkpoint/safetensors.ts'
import { assertClose } from '../basics/assert-close.ts'

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

export const goldenFile = (name: string): string => path(`test/fixtures/parity/mini/${name}`)

/** A network with few channels and seeded weights, and the results of each of its parts. */
export const TINY_FOLDER = path('test/fixtures/parity/mini/tiny')

export const WEIGHTS_FOLDER = path('models/mini/weights')

export const TEXT_ENCODER_FOLDER = path('.runtime/text-encoder')

if (!existsSync(TEXT_ENCODER_FOLDER)) {
  throw new Error('The text encoder is not there: run `node scripts/setup/setup.mjs`')
}

export interface Golden {
  values(name: string): Float32Array | Int32Array
  /** Returns a float32 tensor, which the test must free. */
  tensor(name: string): Tensor
}

export function openGolden(name: string): Golden {
  const stored = openSafetensors(goldenFile(name))
  const find = (tensor: string) => {
    const found = stored.get(tensor)
    if (!found) throw new Error(`${name} has no ${tensor}`)
    return found
  }
  return {
    values: (tensor) => find(tensor).values(),
    tensor: (tensor) => tf.tensor(find(tensor).values(), [...find(tensor).shape], 'float32'),
  }
}

/** Compares within a tolerance relative to the largest magnitude of the stream. */
export function assertStream(actual: Tensor, expected: Float32Array | Int32Array): void {
  assertClose(actual.dataSync<'float32'>(), expected, { relative: 1e-4 })
}

/**
 * Runs `body`, passes its result to `check`, and frees it. Fails if `body` leaves any other tensor
 * behind.
 */
export function counted(body: () => Tensor, check: (result: Tensor) => void): void {
  const before = tf.memory().numTensors
  const result = body()
  const left = tf.memory().numTensors - before
  check(result)
  result.dispose()
  if (left !== 1) throw new Error(`${left} tensors were left instead of the one returned`)
}
