/** Reads PyTorch's results for the built-in model, in `test/fixtures/parity/mini`. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tf, type Tensor } from '../../../models/tensorflow/tensor.ts'
import { assertClose } from '../basics/assert-close.ts'
import { GoldenFile } from '../parity/golden-file.ts'

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

export const goldenFile = (name: string): string => path(`test/fixtures/parity/mini/${name}`)

/** A network with few channels and seeded weights, and the results of each of its parts. */
export const TINY_FOLDER = path('test/fixtures/parity/mini/tiny')

export const TEXT_ENCODER_FOLDER = path('.runtime/text-encoder')

if (!existsSync(TEXT_ENCODER_FOLDER)) {
  throw new Error('The text encoder is not there: run `node scripts/setup/setup.mjs`')
}

export const openGolden = (name: string): GoldenFile => new GoldenFile(goldenFile(name), name)

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
