/**
 * The tagger's network: convolutions that halve time and pitch five times, then some over half
 * seconds. (`Tagger` in `tagger/network.py` of the training.)
 */
import { tf, type Tensor, type Tensor4D } from '../tensorflow/tensor.ts'
import type { Layer } from '../layers/layers.ts'
import type { Weights } from '../checkpoint/weights.ts'
import { MELS } from './mel.ts'

export interface TaggerSizes {
  classes: number
  /** Number of channels after each halving. */
  widths: readonly number[]
  /** Channels of a step, and how many residual convolutions over three steps there are. */
  hidden: number
  temporal: number
}

/** The parts in order, so that tests can compare each with the reference. */
export interface TaggerNetwork {
  halvings: readonly Layer[]
  /** Each follows the halving with its index plus one. */
  blocks: readonly Layer[]
  /** Maps [batch, steps, bands, channels] to [batch, steps, hidden]. */
  gather: Layer
  steps: readonly Layer[]
  /** Maps [batch, steps, hidden] to logits [batch, steps, classes]. */
  classify: Layer
}

/** Loads the network; reads all of `weights`. */
export function loadTaggerNetwork(weights: Weights, sizes: TaggerSizes): TaggerNetwork {
  const { widths, hidden, temporal, classes } = sizes
  const inputs = [1, ...widths.slice(0, -1)]
  const last = widths.at(-1)!
  const bands = MELS >> widths.length
  return {
    halvings: widths.map((width, i) => {
      const convolve = loadConvolution(weights.at('halving').at(i), [3, 3, inputs[i]!, width], 2)
      return (x) => tf.tidy(() => convolve(x).relu())
    }),
    blocks: widths.slice(1).map((width, i) => loadBlock(weights.at('block').at(i), width)),
    gather: loadGather(weights.at('gather'), bands * last, hidden),
    steps: Array.from({ length: temporal }, (_, i) => loadSteps(weights.at('steps').at(i), hidden)),
    classify: loadDense(weights.at('classify'), hidden, classes),
  }
}

/** Maps log-mel [batch, frames, MELS] to logits [batch, frames / STEP_FRAMES, classes]. */
export function runTagger({ halvings, blocks, gather, steps, classify }: TaggerNetwork): Layer {
  return (features) =>
    tf.tidy(() => {
      let x: Tensor = features.expandDims(3) // [batch, time, bands, channels]
      for (const [i, halve] of halvings.entries()) {
        x = halve(x)
        if (i > 0) x = blocks[i - 1]!(x)
      }
      x = gather(x) // [batch, steps, hidden]
      for (const step of steps) x = step(x)
      return classify(x)
    })
}

/**
 * Loads a convolution with a bias. With a stride of 2 it pads only at the ends, because sizes are
 * even.
 */
function loadConvolution(
  weights: Weights,
  shape: readonly [height: number, width: number, inDim: number, outDim: number],
  stride = 1,
): Layer {
  const filter = weights.get('weight', shape) as Tensor4D
  const bias = weights.get('bias', [shape[3]])
  return (x) => tf.tidy(() => tf.conv2d(x as Tensor4D, filter, stride, 'same', 'NHWC').add(bias))
}

function loadBlock(weights: Weights, width: number): Layer {
  const [first, second] = ['first', 'second'].map((name) =>
    loadConvolution(weights.at(name), [3, 3, width, width]),
  ) as [Layer, Layer]
  return (x) => tf.tidy(() => x.add(second(first(x).relu())).relu())
}

function loadGather(weights: Weights, inDim: number, outDim: number): Layer {
  const project = loadDense(weights, inDim, outDim)
  return (x) => tf.tidy(() => project(x.reshape([x.shape[0]!, x.shape[1]!, inDim])).relu())
}

/** Loads a convolution over three steps, with a skip connection. */
function loadSteps(weights: Weights, width: number): Layer {
  const kernel = weights.get('weight', [3, width, width]).reshape([3, 1, width, width])
  const bias = weights.get('bias', [width])
  return (x) =>
    tf.tidy(() => {
      const rows = x.expandDims(2) as Tensor4D // [batch, steps, 1, width]
      const found = tf
        .conv2d(rows, kernel as Tensor4D, 1, 'same', 'NHWC')
        .add(bias)
        .relu()
      return x.add(found.reshape(x.shape))
    })
}

/** Loads a product with a matrix stored as [inDim, outDim], and a bias. */
function loadDense(weights: Weights, inDim: number, outDim: number): Layer {
  const matrix = weights.get('weight', [inDim, outDim])
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const rows = tf.matMul(x.reshape([-1, inDim]), matrix as typeof matrix & { rank: 2 })
      return rows.add(bias).reshape([...x.shape.slice(0, -1), outDim])
    })
}
