/**
 * How much memory does loading a SAM-Audio checkpoint take besides the weights themselves? Sizes as
 * published (`--dim`, `--layers`), a file of zeros, each precision in a process of its own. The
 * peak is that of loading and of a first use, of two frames; `besideInLargest` is all of it that is
 * not the weights in the width that they are kept in, counted in the largest tensor.
 *
 *   npm run bench -- sam-audio-load --dim 1536 --layers 16 --precision float32,bfloat16
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOwnArgv, TEXT } from '../scripts/cli/command.ts'
import type { Precision } from '../models/tensorflow/precision.ts'
import { decodeLatents, encodeWaves } from '../models/sam-audio/codec/codec.ts'
import { hopOf, type SamAudioConfig } from '../models/sam-audio/config.ts'
import { loadNetwork, type Network } from '../models/sam-audio/network.ts'
import { countOf } from '../models/checkpoint/stored-tensor.ts'
import { backendVersion, tf } from '../models/tensorflow/tensor.ts'
import { Weights } from '../models/checkpoint/weights.ts'
import {
  codecShapes,
  conditionShapes,
  feedForwardDimOf,
  PUBLISHED_CODEC,
  transformerShapes,
  under,
} from '../test/support/models/random-weights.ts'
import { writeZeros } from '../test/support/models/published.ts'
import { report, round } from './report.ts'

const MIB = 2 ** 20

/** Weights that are kept in the width of the products. */
const IN_PRODUCTS =
  /^transformer\.(layers\.\d+\.(attention|cross_attention|feed_forward)|y_embedder\.projection)\.w/

const { values: options } = readOwnArgv({
  dim: { ...TEXT, default: '1536' },
  layers: { ...TEXT, default: '16' },
  precision: { ...TEXT, default: 'float32,bfloat16' },
  file: TEXT,
})
const [dim, layers] = [Number(options.dim), Number(options.layers)]
const config: SamAudioConfig = {
  codec: PUBLISHED_CODEC,
  transformer: {
    dim,
    layers,
    heads: dim / 128,
    contextDim: dim,
    timeDim: 256,
    positionsMax: 10_000,
    feedForwardDim: feedForwardDimOf(dim),
  },
  textDim: 768,
  videoDim: 1024,
  anchors: 3,
  anchorDim: 128,
}
const shapes = {
  ...under('transformer', transformerShapes(config.transformer, 2 * config.codec.codebookDim)),
  ...under('audio_codec', codecShapes(config.codec)),
  ...conditionShapes(config),
}

if (options.file) measure(options.file, options.precision as Precision)
else measureEach()

function measureEach(): void {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-load-'))
  try {
    const file = join(folder, 'zeros.safetensors')
    writeZeros(file, shapes)
    for (const precision of options.precision.split(',')) {
      const { status } = spawnSync(
        process.execPath,
        [
          '--import',
          'tsx',
          fileURLToPath(import.meta.url),
          '--dim',
          options.dim,
          '--layers',
          options.layers,
          '--precision',
          precision,
          '--file',
          file,
        ],
        { stdio: 'inherit' },
      )
      if (status !== 0) throw new Error(`loading in ${precision} failed`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function measure(file: string, precision: Precision): void {
  tf.tidy(() => tf.matMul(tf.ones([64, 64]), tf.ones([64, 64])).dataSync()) // TensorFlow's own
  const before = resident('VmRSS')
  const startedAt = performance.now()
  const network = loadNetwork(Weights.open(file), config, precision)
  const seconds = (performance.now() - startedAt) / 1000
  const loaded = resident('VmHWM') - before
  useAll(network)
  const peak = resident('VmHWM') - before
  const largest = (4 * Math.max(...Object.values(shapes).map(countOf))) / MIB
  const kept = Object.entries(shapes).reduce(
    (sum, [name, shape]) =>
      sum + ((precision === 'bfloat16' && IN_PRODUCTS.test(name) ? 2 : 4) * countOf(shape)) / MIB,
    0,
  )
  report('MiB that loading a SAM-Audio checkpoint takes', {
    backend: backendVersion(),
    precision,
    dim,
    layers,
    weights: Math.round(kept),
    loaded: Math.round(loaded),
    peak: Math.round(peak),
    largest: round(largest),
    besideInLargest: round((peak - kept) / largest),
    seconds: round(seconds),
  })
}

/** A few frames through everything: what a first use takes belongs to the peak. */
function useAll({ codec, velocity }: Network): void {
  const frames = 2
  tf.tidy(() => {
    const wave = new Float32Array(frames * hopOf(config.codec))
    const { features } = encodeWaves(codec.encoder, config.codec, [wave])
    decodeLatents(codec.decoder, config.codec, features, null).dataSync()
    const { conditions, transformer } = velocity
    const state = tf.zeros([1, frames, 2 * config.codec.codebookDim])
    velocity
      .forward(state, transformer.embedTime([0]), {
        base: conditions.audio(features).add(conditions.anchors(tf.zeros([1, frames], 'int32'))),
        memory: conditions.memory(tf.zeros([1, 1, config.textDim])),
        frames: null,
        textKeys: null,
      })
      .dataSync()
  })
}

/** A line of the system's account of this process, in MiB. */
function resident(line: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`${line}:\\s*(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8'))
  return Number(found![1]) / 1024
}
