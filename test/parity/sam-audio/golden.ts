/** What the reference computed for a tiny SAM-Audio: `test/fixtures/sam-audio/golden`. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openSafetensors } from '../../../models/safetensors.ts'
import { tf, type Tensor } from '../../../models/tensor.ts'
import { assertClose } from '../../support/assert-close.ts'

const path = (name: string) =>
  fileURLToPath(new URL(`../../fixtures/sam-audio/${name}`, import.meta.url))

export const FIXTURES = path('')
export const MODEL_FOLDER = path('sam-audio-tiny')
export const CHECKPOINT = path('sam-audio-tiny/checkpoint.pt')
export const CONFIG = path('sam-audio-tiny/config.json')

interface ManifestEntry {
  suggested_atol?: number
  suggested_atol_all?: number
  suggested_atol_final?: number
  final_outputs?: readonly string[]
}

const manifest = JSON.parse(readFileSync(path('golden/MANIFEST.json'), 'utf8')) as {
  files: Record<string, ManifestEntry>
}

export interface Golden {
  has(name: string): boolean
  shape(name: string): readonly number[]
  values(name: string): Float32Array | Int32Array
  /** As it is stored; float32, or what was stored as int32, as numbers. The test frees it. */
  tensor(name: string): Tensor
  /** From the reference's [batch, channels, frames] to [batch, frames, channels]. */
  turned(name: string): Tensor
  /** What the manifest allows for this tensor. */
  tolerance(name: string): number
  /** Fails when `actual` differs by more than that. */
  assertEqual(actual: Tensor, name: string): void
  /** As `assertEqual`, of [batch, frames, channels] with the reference's [batch, channels, frames]. */
  assertTurned(actual: Tensor, name: string): void
}

export function openGolden(file: string): Golden {
  const stored = openSafetensors(path(`golden/${file}`))
  const entry = manifest.files[file] ?? {}
  const find = (name: string) => {
    const found = stored.get(name)
    if (!found) throw new Error(`${file} has no ${name}`)
    return found
  }
  const tolerance = (name: string) => {
    const isFinal = entry.final_outputs?.includes(name)
    const allowed = (isFinal ? entry.suggested_atol_final : entry.suggested_atol_all)
      ?? entry.suggested_atol
    if (allowed === undefined) throw new Error(`the manifest states no tolerance for ${file}`)
    return allowed
  }
  const tensor = (name: string) =>
    tf.tensor(Float32Array.from(find(name).values()), [...find(name).shape], 'float32')
  const turned = (name: string) => tf.tidy(() => tf.transpose(tensor(name), [0, 2, 1]))
  const assertEqual = (actual: Tensor, name: string) =>
    assertClose(actual.dataSync<'float32'>(), find(name).values(), { absolute: tolerance(name) })
  return {
    tensor, turned, tolerance, assertEqual,
    has: (name) => stored.has(name),
    shape: (name) => find(name).shape,
    values: (name) => find(name).values(),
    assertTurned: (actual, name) => {
      const back = tf.tidy(() => tf.transpose(actual, [0, 2, 1]))
      assertEqual(back, name)
      back.dispose()
    },
  }
}
