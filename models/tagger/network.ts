/**
 * The tagger's network: convolutions that halve time and pitch five times, then some over half
 * seconds. (`Tagger` in the training's `tagger/network.py`.)
 */
import { tf, type Tensor, type Tensor4D } from '../tensorflow/tensor.ts'
import type { Layer } from '../layers/layers.ts'
import type { Weights } from '../checkpoint/weights.ts'
import { MELS } from './mel.ts'

export interface TaggerSizes {
  classes: number
  /** Channels after each halving. */
  widths: readonly number[]
  /** Channels of a step, and its residual convolutions over three steps. */
  hidden: number
  temporal: number
}

/** The parts in their order, so that each can be held to the reference. */
export interface TaggerNetwork {
  halvings: readonly Layer[]
  /** Each comes after the halving of its index plus one. */
  blocks: readonly Layer[]
  /** [batch, steps, bands, channels] to [batch, steps, hidden]. */
  gather: Layer
  steps: readonly Layer[]
  /** [batch, steps, hidden] to logits [batch, steps, classes]. */
  classify: Layer
}

/** Reads all weights of `weights`. */
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

/** log-mel [batch, frames, MELS] to logits [batch, frames / STEP_FRAMES, classes]. */
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

/** A convolution with a bias; with a stride of 2 it pads at the ends alone, as sizes are even. */
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

/** A convolution over three steps, with a way past it. */
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

/** A product with a matrix that is stored [inDim, outDim], and a bias. */
function loadDense(weights: Weights, inDim: number, outDim: number): Layer {
  const matrix = weights.get('weight', [inDim, outDim])
  const bias = weights.get('bias', [outDim])
  return (x) =>
    tf.tidy(() => {
      const rows = tf.matMul(x.reshape([-1, inDim]), matrix as typeof matrix & { rank: 2 })
      return rows.add(bias).reshape([...x.shape.slice(0, -1), outDim])
    })
}
