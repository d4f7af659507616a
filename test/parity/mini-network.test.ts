/**
 * Compares the mask network with PyTorch part by part, with few channels and seeded weights. The lanes
 * in mini-lane.test.ts compare the weights that are served.
 */
import { join } from 'node:path'
import { test } from 'node:test'
import { WARM_UP_CALLS } from '../../models/graph/graph-cache.ts'
import { readConfig } from '../../models/mini/config.ts'
import type { Streams } from '../../models/mini/network/hybrid-block.ts'
import { hopAt, tokenCount } from '../../models/mini/lane-bucket.ts'
import { loadNetwork } from '../../models/mini/network/network.ts'
import {
  applyMask,
  featuresOf,
  inputScale,
  maskOf,
  powerOf,
  type Spectrum,
} from '../../models/mini/spectrum.ts'
import { frameCount } from '../../models/layers/framing.ts'
import { istft, stft } from '../../models/layers/stft.ts'
import { tf, type Tensor } from '../../models/tensorflow/tensor.ts'
import { Weights } from '../../models/checkpoint/weights.ts'
import { assertClose } from '../support/basics/assert-close.ts'
import { assertStream, counted, openGolden, TINY_FOLDER } from '../support/models/golden.ts'

const golden = openGolden('tiny/golden.safetensors')
const config = await readConfig(join(TINY_FOLDER, 'config.json'))
const weightsFile = join(TINY_FOLDER, 'model.safetensors')
const network = loadNetwork(Weights.open(weightsFile), config)
const wave = golden.tensor('waveform').expandDims(0) // [1, samples]
const samples = wave.shape[1]!
const hop = hopAt(32_000)
const tokens = tokenCount(frameCount(samples, hop, 0))
const framing = { hop, frames: frameCount(samples, hop, 0), shift: 0 }

const code = (): Tensor => tf.tidy(() => network.textCode(golden.tensor('embedding')))

const last = `cond.${config.conditionedBlocks - 1}`

/** Runs the whole network with these spans. */
const decodeMask = (spans: Tensor) =>
  tf.tidy(() => {
    const encoded = network.encodeMixture(golden.tensor('features'), null)
    const conditioning = { embedding: golden.tensor('embedding'), spans }
    return { ...network.decodeMask(encoded, conditioning, null) }
  })

const streamsOf = (name: string): Streams => ({
  x: golden.tensor(`${name}.x`),
  z: golden.tensor(`${name}.z`),
})

/** Runs a part, which must leave no other tensor behind, and compares it with a golden tensor. */
const assertPart = (run: () => Tensor, name: string): void =>
  counted(
    () => tf.tidy(run),
    (result) => assertStream(result, golden.values(name)),
  )

function assertStreams(run: () => Streams, name: string): void {
  assertPart(() => run().x, `${name}.x`)
  assertPart(() => run().z, `${name}.z`)
}

const partsOf = (spectrum: Tensor): Spectrum => ({
  real: tf.real(spectrum),
  imaginary: tf.imag(spectrum),
})

/** Returns the spectrum that the network encodes; like the golden one, it is adjusted in level. */
const leveled = () =>
  tf.tidy(() => {
    const power = powerOf(partsOf(stft(wave, framing)))
    const scale = inputScale(wave.square().mean(), power, config.inputRms).reshape([1, 1])
    return stft(wave.mul(scale), framing)
  })

test('the spectrum agrees', () => {
  leveled().dispose() // caches the window of this hop
  assertPart(() => tf.real(leveled()), 'spectrum.real')
  assertPart(() => tf.imag(leveled()), 'spectrum.imag')
})

test('the features agree', () => {
  const run = () =>
    tf.tidy(() => {
      const power = powerOf(partsOf(stft(wave, framing)))
      return featuresOf(power, inputScale(wave.square().mean(), power, config.inputRms), hop)
    })
  // Compares squares, which are magnitudes, because the root magnifies errors near zero.
  const expected = (golden.values('features') as Float32Array).map((x) => x ** 2)
  counted(
    () => tf.tidy(() => run().square()),
    (squares) => assertStream(squares, expected),
  )
})

test('the features of silence, the band split and the text code agree', () => {
  assertPart(() => featuresOf(tf.zeros([1, 2, 1025]), tf.scalar(1), hop), 'silence')
  assertPart(() => network.begin(golden.tensor('features')).x, 'split')
  assertPart(code, 'code')
})

/** A block's z comes from its frame layer, its x from its band layer. */
test('every block agrees', () => {
  const { shared, conditioned } = network
  let before = () => network.begin(golden.tensor('features'))
  for (const [i, block] of shared.entries()) {
    const previous = before
    assertStreams(() => block(previous(), null, null), `shared.${i}`)
    before = () => streamsOf(`shared.${i}`)
  }
  for (const [i, block] of conditioned.entries()) {
    const previous = before
    assertStreams(() => block(previous(), code(), null), `cond.${i}`)
    before = () => streamsOf(`cond.${i}`)
  }
})

test('a valid mask that hides nothing changes nothing', () => {
  const all = tf.ones([1, tokens])
  assertStreams(() => network.conditioned[1]!(streamsOf('cond.0'), code(), all), 'cond.1')
})

test('the norm and the mask head agree', () => {
  assertPart(() => network.norm(golden.tensor(`${last}.x`)), 'norm')
  assertPart(() => network.head(golden.tensor('norm')), 'head')
})

test('as a graph too the whole network agrees, with and without spans', () => {
  for (const [prefix, spans] of [
    ['', () => tf.zeros([1, tokens, 2])],
    ['spans.', () => golden.tensor('spans')],
  ] as const) {
    const activity = golden.values(`${prefix}activity`)
    for (let call = 0; call <= WARM_UP_CALLS; call += 1) {
      assertPart(() => decodeMask(spans()).maskLogits, `${prefix}mask_logits`)
      counted(
        () => tf.tidy(() => decodeMask(spans()).activityLogits),
        // All may be near 0.
        (logits) => assertClose(logits.dataSync<'float32'>(), activity, { absolute: 2e-4 }),
      )
    }
  }
})

test('the masked waveform equals the target', () => {
  const run = () =>
    tf.tidy(() => {
      const spectrum = stft(wave, framing)
      const isFrame = tf.ones([1, spectrum.shape[1]!, 1])
      const mask = maskOf(golden.tensor('mask_logits'), spectrum.shape[2]!, isFrame)
      const { real, imaginary } = applyMask(partsOf(spectrum.expandDims(1)), mask)
      return istft(tf.complex(real, imaginary).squeeze([1]), framing, samples)
    })
  const check = (target: Tensor) =>
    assertClose(target.dataSync<'float32'>(), golden.values('target'), { absolute: 2e-5 })
  counted(run, check)
})
