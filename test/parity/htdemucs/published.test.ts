/**
 * Compares HTDemucs with its published weights, as `model import` installs them, with ONNX Runtime on
 * the file that they come from. Runs nightly, because it fetches 210 MB.
 */

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readRecord } from '../../../models/installed/record.ts'
import { spectrumOf, wavesOf } from '../../../models/htdemucs/spectrum.ts'
import { loadHTDemucs } from '../../../models/htdemucs/htdemucs.ts'
import type { HTDemucsRecord } from '../../../models/installed/record.ts'
import type { Model } from '../../../models/model.ts'
import { tf } from '../../../models/tensorflow/tensor.ts'
import { npmPackages } from '../../support/packages/npm-packages.ts'
import { publishedHTDemucs } from '../../support/models/published-htdemucs.ts'
import type { Planes } from '../../support/media/signals.ts'
import { readExcerpt, sdr } from '../../support/media/songs.ts'

const AGREEMENT_DB = 50
const WINDOW = 4096
const STEMS = ['drums', 'bass', 'other', 'vocals']

/** The part of onnxruntime-node used here; its package is not a dependency. */
interface Runtime {
  Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => RuntimeTensor
  InferenceSession: { create(file: string, options: object): Promise<Session> }
}
interface RuntimeTensor {
  data: Float32Array
  dims: readonly number[]
}
interface Session {
  inputNames: readonly string[]
  outputNames: readonly string[]
  run(feeds: Record<string, RuntimeTensor>): Promise<Record<string, RuntimeTensor>>
}

test('HTDemucs with its published weights agrees with ONNX Runtime', async (t) => {
  const fetched = await fetchPackages(t)
  if (!fetched) return
  const { published, runtime, song } = fetched
  const folder = join(published.models, 'htdemucs')
  const model = loadHTDemucs(folder, readRecord(folder) as HTDemucsRecord)
  const { samples } = model.description.fixedChunks!
  const chunk = song.mixture.map((plane) => repeat(plane, samples))
  const expected = await referenceStems(runtime, published.onnx, chunk)
  for (const [i, target] of separateStems(model, chunk).entries()) {
    const agreement = sdr(expected[i]!, target)
    t.diagnostic(`${STEMS[i]}: ${agreement.toFixed(1)} dB`)
    assert.ok(agreement >= AGREEMENT_DB, `${STEMS[i]}: ${agreement} dB`)
  }
})

/** Returns undefined if a package is unavailable, and then skips the test with the reason. */
async function fetchPackages(t: TestContext) {
  try {
    const published = await publishedHTDemucs()
    const modules = await npmPackages('onnxruntime-node-1.30.0', 'onnxruntime-node@1.30.0')
    const runtime = createRequire(join(modules, 'of-the-test.js'))('onnxruntime-node') as Runtime
    return { published, runtime, song: await readExcerpt() }
  } catch (error) {
    t.skip(`a package can't be had: ${(error as Error).message}`)
    return undefined
  }
}

const repeat = (plane: Float32Array, samples: number): Float32Array =>
  Float32Array.from({ length: samples }, (_, i) => plane[i % plane.length]!)

/** Returns samples by [stem][channel]. */
function separateStems(model: Model, channels: Float32Array[]): Planes[] {
  const heads = STEMS.map((stem) => ({ prompt: stem, stems: [stem], seed: 0 }))
  const chunk = { channels, sampleRate: model.description.sampleRate! }
  const [lane] = model.open({ chunk, spans: [], acceleration: 'balanced' }, heads)
  while (lane!.stepsDone < lane!.steps) model.step([lane!])
  return model.close(lane!).map(({ target }) => target)
}

/** Runs the network in ONNX Runtime; the transforms are ours, because its file leaves them out. */
async function referenceStems(runtime: Runtime, onnx: string, channels: Planes): Promise<Planes[]> {
  const samples = channels[0]!.length
  const mixture = tf.stack(channels.map((plane) => tf.tensor1d(plane))).expandDims(0)
  const spectrum = tf.transpose(spectrumOf(mixture, WINDOW), [0, 3, 2, 1])
  const session = await runtime.InferenceSession.create(onnx, { executionProviders: ['cpu'] })
  const feeds = [mixture, spectrum].map(
    (tensor) => new runtime.Tensor('float32', tensor.dataSync<'float32'>(), tensor.shape),
  )
  const named = Object.fromEntries(session.inputNames.map((name, i) => [name, feeds[i]!]))
  const outputs = await session.run(named)
  const [spectra, waves] = session.outputNames.map((name) => {
    const { data, dims } = outputs[name]!
    return tf.tensor(data, [...dims])
  })
  const [, stems, parts, bins, frames] = spectra!.shape as [number, number, number, number, number]
  const rows = tf
    .transpose(spectra!.reshape([stems * parts, bins, frames]), [2, 1, 0])
    .expandDims(0)
  const whole = wavesOf(rows, samples).reshape(waves!.shape).add(waves!)
  const values = whole.dataSync<'float32'>()
  return STEMS.map((_, stem) =>
    channels.map((_plane, c) => {
      const at = (stem * channels.length + c) * samples
      return values.subarray(at, at + samples)
    }),
  )
}
